"""Serial writes within a group: file locks on one host, leases in the database across hosts.

Who holds one decides elsewhere.
"""
