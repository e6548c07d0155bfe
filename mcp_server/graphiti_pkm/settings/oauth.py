"""Settings for access tokens of an OAuth issuer, beside the tokens that this product makes."""

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator, model_validator

from graphiti_pkm.settings.keys import is_nearby

_ADDRESSES = ("oauth_issuer", "oauth_resource", "oauth_jwks_url")


class OAuthSettings(BaseModel, defer_build=True):
    """Settings of a server over http or sse that accepts the tokens of an issuer."""

    oauth_issuer: str | None = Field(
        default=None,
        description="Address of an OAuth issuer, exactly as in the claim iss of its tokens. With it, http and sse also "
        "accept its access tokens (JWT), and clients are told to sign in there.",
    )
    oauth_audience: str | None = Field(
        default=None,
        description="Audience that the issuer names in the claim aud of tokens for this server. "
        "Default: oauth_resource.",
    )
    oauth_resource: str | None = Field(
        default=None,
        description="Address under which clients reach this server, with its path. Default: host, port and path, if "
        "host is loopback.",
    )
    oauth_jwks_url: str | None = Field(
        default=None,
        description="Address of the issuer's public keys. Default: as the issuer's own metadata says.",
    )
    oauth_scopes: tuple[str, ...] = Field(
        default=(), description="Scopes that clients are told to ask the issuer for, separated by commas."
    )
    oauth_principal_claim: str = Field(
        default="sub",
        min_length=1,
        description="Claim whose value tells people apart; each has a memory of their own. It must never be given to "
        "somebody else, and its values must not be chosen by users.",
    )
    oauth_tier: Literal["reader", "contributor", "librarian", "curator"] = Field(
        default="contributor", description="Tier of the issuer's tokens, unless oauth_tier_claim names a claim."
    )
    oauth_tier_claim: str | None = Field(
        default=None,
        description="Claim that names the tier, such as scope or realm_access.roles; the highest counts, also as "
        "memory:TIER, and a token without one is refused.",
    )
    oauth_groups_claim: str | None = Field(
        default=None,
        description="Claim with the groups that a token is limited to; a token without one is refused. Default: all "
        "groups of the person.",
    )

    @field_validator(*_ADDRESSES)
    @classmethod
    def _safe_address(cls, given: str | None) -> str | None:
        """Nobody between us and the issuer may exchange its keys."""
        if given is None:
            return None
        parts = urlsplit(given)
        if (
            not parts.hostname
            or parts.query
            or parts.fragment
            or parts.username
            or parts.scheme not in {"https", "http"}
        ):
            raise ValueError("must be an address such as https://login.example.com/realms/home, without query or user")
        if parts.scheme == "http" and not is_nearby(given) and "." in parts.hostname:
            raise ValueError("must begin with https://; http:// is only for this machine or a private network")
        return given

    @model_validator(mode="after")
    def _of_an_issuer(self) -> Self:
        given = [name for name, field in OAuthSettings.model_fields.items() if getattr(self, name) != field.default]
        if given and self.oauth_issuer is None:
            raise ValueError(f"{given[0]} needs oauth_issuer, the address of the issuer")
        return self
