"""${message}"""

from pgfuse import revisions

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}

FILES: tuple[str, ...] = ()


def upgrade() -> None:
    raise NotImplementedError("name the frozen files of this revision and run them")


def downgrade() -> None:
    raise NotImplementedError("undo what upgrade did")
