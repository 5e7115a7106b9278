"""What it costs to guess a password from its hash."""

import argon2
import pytest

from mnemon.identity import passwords


async def test_a_password_costs_a_guesser_what_the_rfc_recommends(
    costly_hasher: argon2.PasswordHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "_hasher", costly_hasher)
    made = await passwords.hash_password("correct horse battery")
    assert argon2.extract_parameters(made) == argon2.profiles.RFC_9106_LOW_MEMORY
    assert await passwords.verify_password("correct horse battery", made)
    assert not await passwords.verify_password("correct horse batterie", made)
