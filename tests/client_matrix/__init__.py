"""The client matrix: ``make clients`` connects each client and framework to a server, and tells what models are shown.

``programs`` run with the packages of the framework, in environments that uv makes and throws away.
"""
