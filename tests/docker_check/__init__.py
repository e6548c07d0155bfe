"""``make docker-check``: lints docker/, then builds and runs the image on a machine without a container engine."""
