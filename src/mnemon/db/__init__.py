"""The database: embedded or external server, tenant transactions, migrations, backup."""
