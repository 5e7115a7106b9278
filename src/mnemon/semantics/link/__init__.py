"""Links: which findings are one event, and which events replace or fulfil others."""
