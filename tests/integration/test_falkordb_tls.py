"""A FalkorDB that is reached over TLS."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.falkor import RemoteFalkor
from tests.integration.falkordb_remote import opened, refusal


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One that signs itself, for localhost, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    directory = tmp_path_factory.mktemp("tls")
    certificate, secret = directory / "certificate.pem", directory / "key.pem"
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, secret


@asynccontextmanager
async def behind_tls(port: int, certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    """The port of what ends TLS before the server at ``port``, as stunnel and managed databases do."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, to_server), pump(from_server, writer))

    async with await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context) as tls:
        yield int(tls.sockets[0].getsockname()[1])


async def test_a_server_behind_tls_is_used_if_its_certificate_is_trusted(
    falkor_server: RemoteFalkor, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    async with behind_tls(falkor_server.port, certificate) as port:
        trusted = f"rediss://localhost:{port}?ssl_ca_certs={certificate[0]}"
        settings = falkor_server.settings("behind_tls", falkordb_uri=trusted)
        store, _ = opened(tmp_path, settings)
        assert await store.records.groups() == []
        await store.close()
        told = await refusal(tmp_path, {**settings, "falkordb_uri": f"rediss://localhost:{port}"})
        assert "ssl_ca_certs=FILE" in told
        elsewhere = {**settings, "falkordb_uri": trusted.replace("localhost", "127.0.0.1")}
        assert "is another host's" in await refusal(tmp_path, elsewhere)
