import json
import re
from html import unescape

import pytest
from django.contrib.staticfiles import finders

from project.demo.accounts import ACCOUNTS


@pytest.fixture
def page(client) -> str:
    return unescape(client.get("/", headers={"host": "localhost:8123"}).content.decode())


def test_landing_page_gives_a_configuration_to_copy(page):
    configuration = re.search(r'<pre id="configuration"[^>]*><code>(.*?)</code>', page, re.DOTALL)[1]

    assert json.loads(configuration) == {
        "mcpServers": {
            "demo-shop": {
                "type": "http",
                "url": "http://localhost:8123/mcp",
                "headers": {"Authorization": "Token alice-demo-token"},
            }
        }
    }


def test_landing_page_names_users_addresses_and_that_it_is_a_demo(page):
    told = {text for account in ACCOUNTS for text in (account.username, account.password, account.token)}

    assert {text for text in told if text not in page} == set()
    assert set(re.findall(r'href="http://localhost:8123(/[^"]*)"', page)) == {
        "/api/ping/",
        "/docs/",
        "/schema/",
        "/admin/",
    }
    assert "Demo only." in page


def test_landing_page_tells_no_secret_of_the_server(page, settings):
    assert settings.SECRET_KEY not in page


def test_landing_page_has_no_inline_script_and_its_files_exist(page):
    assert re.findall(r"<script(?![^>]*src=)|\son\w+=|<style|style=", page) == []
    files = re.findall(r'(?:src|href)="/static/([^"]+)"', page)
    assert len(files) == 4 and all(finders.find(file) for file in files)


@pytest.mark.parametrize("path", ["/", "/docs/", "/schema/", "/admin/login/"])
def test_page_is_reachable_without_login(client, db, path):
    assert client.get(path).status_code == 200


def test_document_generates_without_a_warning(db):
    from drf_spectacular.drainage import GENERATOR_STATS, reset_generator_stats
    from drf_spectacular.generators import SchemaGenerator

    reset_generator_stats()
    SchemaGenerator().get_schema(request=None, public=True)

    assert not GENERATOR_STATS
