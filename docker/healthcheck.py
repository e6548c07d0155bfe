"""Exit code 0 while the server of this container answers /health; the image has no curl."""

import http.client
import os
import sys

connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("GRAPHITI_PKM_PORT") or 8000), timeout=4)
try:
    connection.request("GET", "/health")
    is_alive = connection.getresponse().status == http.client.OK
except OSError as error:
    sys.exit(f"/health does not answer: {error}")
sys.exit(0 if is_alive else "/health does not say 200")
