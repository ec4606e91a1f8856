"""Environment variables, validated in one place (INTERFACE, "Environment").

A blank value counts as unset. Nothing else in the code reads the environment for settings;
Temporal's own profiles and `TEMPORAL_*` variables are read by runtime/connect.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from runtime.errors import UsageError
from runtime.prices import parse_prices
from workflows.contracts.price import Price
from workflows.contracts.task import Settings

HOME = ".surefoot"
_HEARTBEAT_EMBEDDED = 5.0
_HEARTBEAT = 30.0


class Env(BaseSettings):
    """What the environment says. Fields have aliases only: by name, `HOME` would set `home`.

    Attributes:
        home: state directory, absolute.
        store: evidence store: a directory (absolute) or `s3://bucket/prefix`.
        roots: folders that may be indexed, absolute.
        prices: what models cost, by the name that `OPENAI_MODEL` takes.
        codec_keys: `id:base64` pairs; None means no encryption.
        attempts: attempts per act.
        semantic: whether searches are ordered by meaning too (the extra `semantic`).
        heartbeat_seconds: None means 5 embedded, 30 otherwise (DESIGN, "Failure").
    """

    model_config = SettingsConfigDict(extra="ignore", frozen=True, validate_default=True)

    openai_api_key: SecretStr | None = Field(None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(None, validation_alias="OPENAI_BASE_URL")
    openai_model: str | None = Field(None, validation_alias="OPENAI_MODEL")
    openai_model_planner: str | None = Field(None, validation_alias="OPENAI_MODEL_PLANNER")
    openai_model_executor: str | None = Field(None, validation_alias="OPENAI_MODEL_EXECUTOR")
    openai_model_judge: str | None = Field(None, validation_alias="OPENAI_MODEL_JUDGE")
    home: Path = Field(Path(HOME), validation_alias="SUREFOOT_HOME")
    store: str = Field("", validation_alias="SUREFOOT_STORE")
    roots: Annotated[list[Path], NoDecode] = Field([], validation_alias="SUREFOOT_ROOTS")
    prices: Annotated[dict[str, Price], NoDecode] = Field({}, validation_alias="SUREFOOT_PRICES")
    codec_keys: SecretStr | None = Field(None, validation_alias="SUREFOOT_CODEC_KEYS")
    log: Literal["console", "json"] = Field("console", validation_alias="SUREFOOT_LOG")
    attempts: int = Field(4, ge=1, le=100, validation_alias="SUREFOOT_ATTEMPTS")
    model_seconds: float = Field(120, gt=0, le=3600, validation_alias="SUREFOOT_MODEL_SECONDS")
    search_seconds: float = Field(60, gt=0, le=3600, validation_alias="SUREFOOT_SEARCH_SECONDS")
    heartbeat_seconds: float | None = Field(
        None, ge=1, le=600, validation_alias="SUREFOOT_HEARTBEAT_SECONDS"
    )

    semantic: bool = Field(False, validation_alias="SUREFOOT_SEMANTIC")

    @model_validator(mode="before")
    @classmethod
    def _unset_and_store(cls, values: dict[str, Any]) -> dict[str, Any]:
        given = {k: v for k, v in values.items() if not (isinstance(v, str) and not v.strip())}
        store = given.get("SUREFOOT_STORE")
        if store is None:
            store = Path(given.get("SUREFOOT_HOME", HOME)) / "store"
        if "://" not in str(store):
            store = absolute(Path(store))
        return {**given, "SUREFOOT_STORE": str(store)}

    @field_validator("roots", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [part for part in value.split(os.pathsep) if part.strip()]
        return value

    @field_validator("prices", mode="before")
    @classmethod
    def _priced(cls, value: Any) -> Any:
        return parse_prices(value) if isinstance(value, str) else value

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return absolute(value)

    @field_validator("roots")
    @classmethod
    def _all_absolute(cls, value: list[Path]) -> list[Path]:
        return [absolute(path) for path in value]

    def settings(self, *, embedded: bool) -> Settings:
        """Worker settings that `prepare` resolves into each run."""
        return Settings(
            attempts=self.attempts,
            model_seconds=self.model_seconds,
            search_seconds=self.search_seconds,
            heartbeat_seconds=self.heartbeat_seconds
            or (_HEARTBEAT_EMBEDDED if embedded else _HEARTBEAT),
        )

    @property
    def codec(self) -> str | None:
        """The codec keys in the clear, for `data_converter`."""
        return self.codec_keys.get_secret_value() if self.codec_keys else None

    @property
    def api_key(self) -> str | None:
        """The API key in the clear, for `profiles_from`."""
        return self.openai_api_key.get_secret_value() if self.openai_api_key else None

    @property
    def secrets(self) -> list[str]:
        """Every secret value, for the log's redaction."""
        pairs = (self.codec or "").split(",")
        return [s for s in (self.api_key, *(p.partition(":")[2] for p in pairs)) if s]


def absolute(path: Path) -> Path:
    """Absolute, with `~` expanded; symbolic links stay as they are."""
    try:
        return Path(os.path.abspath(path.expanduser()))
    except RuntimeError:
        raise ValueError("no such user's home") from None


def load_env() -> Env:
    """Read the environment.

    Raises:
        UsageError: one line that names the variable, and its value unless it is a secret.
    """
    try:
        env = Env()  # pyright: ignore[reportCallIssue]  # aliases are read from the environment
    except ValidationError as error:
        raise UsageError("; ".join(_line(detail) for detail in error.errors())) from None
    if env.codec is not None:
        from runtime.codec import parse_keys  # noqa: PLC0415  # cryptography only where it is used

        parse_keys(env.codec)
    return env


def _line(detail: Any) -> str:
    name = str(detail["loc"][0]) if detail["loc"] else "environment"
    secret = name in {"OPENAI_API_KEY", "SUREFOOT_CODEC_KEYS"}
    found = "" if secret else f", found {str(detail['input'])[:100]!r}"
    return f"{name}: {detail['msg'].removeprefix('Value error, ')}{found}"
