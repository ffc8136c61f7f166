// node listen.mjs URL: one line when the client listens, one for each change, one when the server ends the stream.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client({ name: 'listener', version: '1' }, { versionNegotiation: { mode: 'auto' } });
client.setNotificationHandler('notifications/tools/list_changed', () => console.log('changed'));
await client.connect(
  new StreamableHTTPClientTransport(new URL(process.argv[2]), {
    requestInit: { headers: { Authorization: process.env.MCP_AUTHORIZATION } }
  })
);
const subscription = await client.listen({ toolsListChanged: true });
console.log(`listening ${JSON.stringify(subscription.honoredFilter)}`);
console.log(`closed ${await subscription.closed}`);
process.exit(0);
