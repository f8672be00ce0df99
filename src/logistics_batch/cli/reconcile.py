import click


@click.command()
def reconcile():
    pass
