// Signs in with the official TypeScript client, then calls one tool. The test plays the browser: it reads the
// address of the authorization page from stdout and writes the address that the client is sent back to.
//   node sign_in.mjs ENDPOINT REDIRECT_URI ERA TOOL ARGUMENTS
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline/promises';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.NODE_CLIENTS}/`);
const installed = require.resolve('@modelcontextprotocol/client').replace(/\.cjs$/, '.mjs');
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import(pathToFileURL(installed).href);

const [endpoint, redirectUri, era, tool, toolArguments] = process.argv.slice(2);
const say = message => console.log(JSON.stringify(message));

const kept = {};
const provider = {
  redirectUrl: redirectUri,
  clientMetadata: {
    client_name: 'A TypeScript client',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => kept.client,
  saveClientInformation: client => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: tokens => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: verifier => { kept.verifier = verifier; },
  saveDiscoveryState: discovered => { kept.discovered = discovered; },
  discoveryState: () => kept.discovered,
  redirectToAuthorization: address => say({ authorize: address.href }),
};

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider: provider });
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
  const client = new Client({ name: 'sign-in', version: '1.0.0' }, { versionNegotiation: { mode } });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    return { transport };
  }
  return { client };
};

const { transport } = await connect();
const lines = createInterface({ input: process.stdin });
const returned = new URL((await lines[Symbol.asyncIterator]().next()).value);
lines.close();
await transport.finishAuth(returned.searchParams);

const { client } = await connect();
const result = await client.callTool({ name: tool, arguments: JSON.parse(toolArguments) });
say({ scope: kept.tokens.scope, envelope: JSON.parse(result.content[0].text) });
await client.close();
