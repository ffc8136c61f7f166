"""The admin's pages in a real browser, over a catalog of some 3,000 tools."""
