"""The first schema: memories, vectors, spaces, settings, lexical statistics and the functions over them."""

from pathlib import Path

from pgfuse import revisions

revision = "pgfuse_0001"
down_revision = None
branch_labels = ("pgfuse",)
depends_on = None

FILES = Path(__file__).with_suffix("")


def upgrade() -> None:
    revisions.install(FILES)


def downgrade() -> None:
    revisions.remove(FILES)
