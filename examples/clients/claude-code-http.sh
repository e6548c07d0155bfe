claude mcp add --transport http memory http://127.0.0.1:8000/mcp --header "Authorization: Bearer TOKEN"
