import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Tests compile into a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GYROSTAT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
