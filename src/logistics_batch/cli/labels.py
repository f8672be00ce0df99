import click


@click.command()
def labels():
    pass
