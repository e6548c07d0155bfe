"""Waiting in background loops."""

import asyncio


async def wait_for_any(*events: asyncio.Event, seconds: float) -> None:
    """Return once any of the events is set, or after ``seconds``."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
