"""Connects to Temporal: the database says where it is, and Temporal's own variables have the credentials."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig, ClientConnectConfig

from untilgreen.errors import UserError
from untilgreen.fleet.runs.records import COMMAND_SECONDS, PostgresRecords

START_SECONDS = 60.0
"""How long a worker waits for Temporal if it is down."""
_FILES = ("TEMPORAL_CONFIG_FILE", "TEMPORAL_PROFILE")


def settings(variables: Mapping[str, str]) -> ClientConnectConfig:
    """Settings from TEMPORAL_API_KEY, TEMPORAL_TLS and the like; a Temporal config file only if named."""
    try:
        return ClientConfig.load_client_connect_config(
            disable_file=not any(name in variables for name in _FILES), override_env_vars=dict(variables)
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(f"The settings for Temporal can't be read: {error}. Check TEMPORAL_…") from error


async def register(client: Client) -> None:
    """Register the search attributes that Temporal's pages filter runs by."""
    wanted = {"UntilgreenStatus": "KEYWORD", "UntilgreenAgent": "KEYWORD", "UntilgreenLabels": "KEYWORD_LIST"}
    asked = ListSearchAttributesRequest(namespace=client.namespace)
    known = (await client.operator_service.list_search_attributes(asked)).custom_attributes
    kinds = {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind}")
        for name, kind in wanted.items()
        if name not in known
    }
    if kinds:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
        )


async def connect(url: str, patience: float = START_SECONDS) -> Client:
    """Connect, and wait for a server that is down."""
    records = PostgresRecords(url, patience=max(patience, COMMAND_SECONDS))
    address = await records.setting("temporal")
    namespace = await records.setting("namespace") or "default"
    records.database.close()
    if address is None:
        raise UserError(
            "The fleet's database does not know where Temporal is. "
            "Set it once: untilgreen fleet init URL --temporal HOST:PORT"
        )
    chosen: ClientConnectConfig = {"target_host": address, "namespace": namespace, **settings(os.environ)}
    until = time.monotonic() + patience
    while True:
        try:
            return await Client.connect(**chosen)
        except RuntimeError as error:
            if time.monotonic() > until:
                raise UserError(
                    f"Temporal at {chosen['target_host']} can't be reached: {error}. "
                    "Check that it is running, and TEMPORAL_TLS… if it needs certificates."
                ) from error
        await asyncio.sleep(0.3)
