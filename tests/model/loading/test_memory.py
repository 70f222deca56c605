"""How much memory is free: the least of what the machine and every control group leave; and what a model needs."""

from pathlib import Path

import pytest

from model.loading.memory import all_memory, free_memory, gigabytes

MEGABYTE = 1 << 20


@pytest.fixture
def system(tmp_path):
    """Writes files of /proc and /sys/fs/cgroup, and says what is free then in MiB."""

    def describe(meminfo: int | None, groups: str, **limits: str) -> int:
        process, mounted = tmp_path / "proc", tmp_path / "cgroup"
        (process / "self").mkdir(parents=True)
        (process / "self" / "cgroup").write_text(groups)
        if meminfo is not None:
            (process / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {meminfo * 1024} kB\n")
        for name, values in limits.items():
            folder = mounted / name.replace("__", "/").rstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            for line in values.split(";"):
                file, value = line.split("=")
                (folder / file).write_text(value)
        return free_memory(process, mounted) // MEGABYTE

    return describe


def version_2(limit: object, used: int, dropped: int = 0) -> str:
    limit = limit if isinstance(limit, str) else int(str(limit)) * MEGABYTE
    stat = f"anon 5\ninactive_file {dropped * MEGABYTE}"
    return f"memory.max={limit}\n;memory.current={used * MEGABYTE};memory.stat={stat}"


def version_1(limit: int, used: int, dropped: int = 0) -> str:
    stat = f"cache 5\ntotal_inactive_file {dropped * MEGABYTE}"
    return f"memory.limit_in_bytes={limit * MEGABYTE};memory.usage_in_bytes={used * MEGABYTE};memory.stat={stat}"


def test_without_control_groups_it_is_what_the_machine_has_available(system):
    assert system(700, "") == 700


def test_a_group_of_version_2_leaves_what_it_has_not_used(system):
    assert system(700, "0::/app\n", app=version_2(500, 120)) == 380


def test_file_pages_that_may_go_count_as_free(system):
    assert system(700, "0::/app\n", app=version_2(500, 400, dropped=300)) == 400


def test_a_group_without_a_limit_does_not_count(system):
    assert system(700, "0::/app\n", app=version_2("max", 120)) == 700


def test_the_least_of_all_groups_above_counts(system):
    assert system(700, "0::/a/b\n", a=version_2(300, 100), a__b=version_2(500, 90)) == 200


def test_a_group_of_version_1_counts_and_those_of_other_things_do_not(system):
    groups = "4:memory:/app\n3:cpu,cpuacct:/other\n"
    assert system(700, groups, memory__app=version_1(500, 120), other=version_2(1, 0)) == 380


def test_in_a_container_the_group_lies_at_the_top(system):
    assert system(700, "4:memory:/docker/0123\n", memory=version_1(250, 50)) == 200


def test_the_machine_may_have_less_than_the_group_allows(system):
    assert system(90, "0::/\n", **{"": version_2(500, 120)}) == 90


def test_nothing_is_free_where_more_is_used_than_allowed(system):
    assert system(700, "0::/app\n", app=version_2(100, 120)) == 0


def test_where_linux_does_not_say_it_is_all_of_the_memory(system):
    assert system(None, "") > 100


def test_here_something_is_free_and_not_more_than_there_is():
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert 0 < free_memory() <= total


@pytest.mark.parametrize(
    ("count", "text"), [(700_000_000, "0.7 GB"), (548_118_077, "0.5 GB"), (12_345_678, "12 MB"), (5, "1 MB")]
)
def test_bytes_are_said_in_a_round_number(count, text):
    assert gigabytes(count) == text


def test_all_memory_is_the_least_limit_of_a_group_and_the_machines_where_none_has_one(system, tmp_path):
    machine = all_memory(tmp_path / "nowhere", tmp_path / "nowhere")
    system(700, "0::/app\n", app=version_2("max", 120))
    assert all_memory(tmp_path / "proc", tmp_path / "cgroup") == machine
    (tmp_path / "cgroup" / "app" / "memory.max").write_text(f"{3 * MEGABYTE}\n")
    assert all_memory(tmp_path / "proc", tmp_path / "cgroup") == 3 * MEGABYTE
