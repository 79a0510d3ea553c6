"""The published files as records: every row, in the units that the records name."""

from __future__ import annotations

import msgspec
import pytest

from orbtax.published.fibre_channel import fibre_channel_results
from orbtax.published.mailing_list import PublishedLink, published_links
from orbtax.published.rows import read_records
from orbtax.published.sdp_buffers import SETTINGS, BufferSetting, sdp_results


def test_the_post_has_three_links_in_its_order() -> None:
    links = published_links()
    assert [link.link for link in links] == ["ib", "10ge", "1ge"]
    ib = links[0]
    assert (ib.corba_gbit_s, ib.socket_gbit_s) == (8.66, 43.6)
    assert (ib.corba_threads, ib.corba_payload_bytes) == (26, 262_144)


def test_what_cannot_be_meant_stands_as_printed() -> None:
    ib, _, one = published_links()
    assert one.corba_mtu_bytes == 63
    assert (ib.socket_send_window, ib.socket_receive_window) == ("256", "1M")


def test_a_record_with_a_field_that_the_file_lacks_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="link"):
        read_records("fibre_channel.csv", PublishedLink)


def test_the_report_of_1994_has_each_direction() -> None:
    results = fibre_channel_results()
    assert {each.overhead_us for each in results} == {25.0}
    assert [each.peak_mbyte_s for each in results] == [7.7, 7.2, 8.0]
    assert [each.peak_message_bytes for each in results] == [65_536, 100_000, 1_000_000]


def test_the_post_on_sdp_has_every_size_under_every_setting() -> None:
    results = sdp_results()
    sizes = sorted({each.message_bytes for each in results})
    assert sizes == [128 << step for step in range(11)]
    assert len(results) == len(sizes) * len(SETTINGS)


def test_smaller_buffers_were_faster_at_the_largest_size() -> None:
    of_setting = {each.buffers: each.mbit_s for each in sdp_results() if each.message_bytes >> 17}
    large, small = BufferSetting(16 << 20, 8 << 20), BufferSetting(16 << 10, 87_380)
    assert (of_setting[large], of_setting[small]) == (6587.27, 8867.24)
