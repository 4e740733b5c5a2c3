"""Scenes in narrow windows: the field of view is vertical, so on a phone the camera has to stand further away."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..algebra import Array


def fitted(page: str, narrow: Mapping[float, Array]) -> str:
    """viser's page, which looks for the camera's place in its address: where it must stand, by width over height.

    A page whose address cannot change (in a notebook) stands where it does in a wide window.
    """
    places = json.dumps([[aspect, [round(float(x), 6) for x in place]] for aspect, place in sorted(narrow.items())])
    return page.replace("<head>", "<head>" + _FIT.replace("PLACES", places), 1)


_FIT = """
<script>
try {
  const places = PLACES, shape = innerWidth / innerHeight, address = new URL(location.href);
  const fits = places.filter(([aspect]) => aspect <= shape).pop() ?? places[0];
  if (shape < 1.3 && fits) address.searchParams.set('initialCameraPosition', fits[1].join(','));
  else address.searchParams.delete('initialCameraPosition');
  history.replaceState(null, '', address);
} catch (error) {}
</script>
"""
