import click


@click.command()
def mapping():
    pass
