"""The MCP door: tools, resources and prompts for agents. No rules live here."""
