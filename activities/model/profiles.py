"""Model profiles of this worker and the roles that use them (INTERFACE, "Environment").

Keys live here only: nothing but a profile's name crosses a boundary (REQUIREMENTS 224; F01).
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, SecretStr

from workflows.contracts.price import Price, Role

ROLES: Final[tuple[Role, ...]] = ("planner", "executor", "judge")
EXTRACTIVE: Final = "extractive"
DEFAULT: Final = "default"
EXTRACTIVE_DISPLAY: Final = "extractive (built in)"


class ProfileError(ValueError):
    """The configuration of models is incomplete, or a profile of that name does not exist."""


class Profile(BaseModel):
    """A model this worker can call.

    Attributes:
        name: what a task names, never a key.
        model: the server's name of the model, "" for the extractive one.
        base_url: address of the server, None for the client library's own default.
        display: how results and reports name the model.
        price: of its tokens, None where the environment names none.
        setting: the environment variable that chose the model, for error messages.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    kind: Literal["openai", "extractive"]
    model: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    display: str
    price: Price | None = None
    setting: str = "OPENAI_MODEL"


class Profiles:
    """The profiles of a worker by name, and the default of each role."""

    def __init__(self, profiles: Iterable[Profile], roles: Mapping[Role, str]) -> None:
        self._profiles = {profile.name: profile for profile in profiles}
        self._roles = dict(roles)
        for name in self._roles.values():
            self.get(name)

    def names(self) -> list[str]:
        """Names a task may use, sorted."""
        return sorted(self._profiles)

    def get(self, name: str) -> Profile:
        """The profile of a name.

        Raises:
            ProfileError: there is none; the message lists those that exist.
        """
        profile = self._profiles.get(name)
        if profile is None:
            raise ProfileError(f"no model profile {name!r}; there are: {', '.join(self.names())}")
        return profile

    def priced(self, prices: Mapping[str, Price]) -> "Profiles":
        """The same profiles with the prices of their models; the extractive one costs nothing."""
        free = Price(prompt="0", completion="0")
        return Profiles(
            [
                each.model_copy(
                    update={"price": free if each.kind == "extractive" else prices.get(each.model)}
                )
                for each in self._profiles.values()
            ],
            self._roles,
        )

    def for_role(self, role: Role, chosen: str | None = None) -> Profile:
        """The profile a task chose for a role, else the worker's default for it.

        Raises:
            ProfileError: the chosen one does not exist.
        """
        return self.get(chosen or self._roles[role])


def profiles_from(
    api_key: str | None = None,
    base_url: str | None = None,
    model: str | None = None,
    planner: str | None = None,
    executor: str | None = None,
    judge: str | None = None,
) -> Profiles:
    """Profiles from the values of the environment; blank means unset.

    `extractive` is always there, `default` when a model is configured, a role's own profile when
    it has a model of its own.

    Raises:
        ProfileError: a key or an address without a model, a model without either, or an address
            that is none; the message names the variables.
    """
    key, url, default = _set(api_key), _set(base_url), _set(model)
    own: dict[Role, str] = {
        role: name
        for role, value in zip(ROLES, (planner, executor, judge), strict=True)
        if (name := _set(value))
    }
    built_in = Profile(name=EXTRACTIVE, kind="extractive", display=EXTRACTIVE_DISPLAY)
    _check_complete(key, url, default, own)
    if default is None:
        return Profiles([built_in], dict.fromkeys(ROLES, EXTRACTIVE))
    secret = SecretStr(key) if key else None
    configured = [
        Profile(
            name=name,
            kind="openai",
            model=value,
            base_url=url,
            api_key=secret,
            display=value,
            setting=setting,
        )
        for name, value, setting in [
            (DEFAULT, default, "OPENAI_MODEL"),
            *((role, value, f"OPENAI_MODEL_{role.upper()}") for role, value in own.items()),
        ]
    ]
    roles: dict[Role, str] = {role: role if role in own else DEFAULT for role in ROLES}
    return Profiles([built_in, *configured], roles)


def _set(value: str | None) -> str | None:
    return (value or "").strip() or None


def _check_complete(
    key: str | None, url: str | None, default: str | None, own: Mapping[Role, str]
) -> None:
    connection = [
        name for name, value in (("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", url)) if value
    ]
    models = ["OPENAI_MODEL"] if default else [f"OPENAI_MODEL_{role.upper()}" for role in own]
    given = " and ".join(connection or models)
    if (connection or own) and default is None:
        raise ProfileError(
            f"{given} without OPENAI_MODEL: set OPENAI_MODEL to the model to use, or unset the "
            "OPENAI_ variables to work with the built-in extractive model"
        )
    if models and not connection:
        raise ProfileError(
            f"{given} without OPENAI_API_KEY or OPENAI_BASE_URL: set the key, or the address of a "
            "server that needs none, or unset the OPENAI_ variables to work with the built-in "
            "extractive model"
        )
    if url is not None and not _is_web_address(url):
        raise ProfileError(
            "OPENAI_BASE_URL is not a web address: expected http:// or https://, a host and "
            "usually the path /v1"
        )


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a broken IPv6 address
        return False
