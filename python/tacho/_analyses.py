"""What a trace can be asked, as methods; made by tools/generate; do not edit."""
from __future__ import annotations  # help() shows the short names of types

from typing import Any, Dict, Literal, Optional, Sequence, Union

from .tables import Answer, Table

VERSION = "0.2.0"
# Analyses whose answer is given as its first table.
FIRST_TABLES = {
    "operators": "operators",
    "kernels": "kernels",
    "steps": "steps",
    "modules": "modules",
    "advise": "advice",
}
# The columns of each table that matter most, in the order in which a screen shows them.
SHOWN = {
    ("operators", "operators"):
        "name calls share device_self intensity peak_share bandwidth_share bound device_total host_self host_total shapes stack",
    ("operators", "phases"):
        "op name phase calls host_total host_share device_total device_share parent shapes",
    ("operators", "top"):
        "name calls mean total share side",
    ("operators", "flops_scopes"):
        "source target flops",
    ("operators", "by_step"):
        "step name duration shapes type level op grid block",
    ("operators", "workers"):
        "name workers least median worst worst_worker mean p50 p90 p99",
    ("kernels", "kernels"):
        "name calls share total intensity peak_share bandwidth_share bound mean op grid block registers",
    ("kernels", "top"):
        "name calls mean total share side",
    ("kernels", "workers"):
        "name workers least median worst worst_worker mean p50 p90 p99",
    ("roofline", "points"):
        "name time share type intensity flops_per_s bytes_per_s roof_share bound shapes",
    ("roofline", "ridges"):
        "type unit peak bandwidth intensity source",
    ("roofline", "mfu"):
        "mfu steps step_time flops type type_share peak",
    ("roofline", "coverage"):
        "known time share",
    ("overview", "devices"):
        "device name utilization sm_efficiency occupancy tensor_core_share mfu",
    ("overview", "breakdown"):
        "category time share",
    ("overview", "idle"):
        "device cause time share name count",
    ("overview", "unprofiled"):
        "recorded step least most idle_share",
    ("overview", "spread"):
        "category min median max max_worker min_worker",
    ("overview", "steps"):
        "step total kernel memcpy communication runtime data_loader cpu_exec other memset",
    ("overview", "stages"):
        "stage calls host_time host_share device_time device_share host_mean device_mean",
    ("overview", "stage_steps"):
        "step stage host_time device_time",
    ("overview", "configuration"):
        "key value",
    ("overview", "stage_events"):
        "stage kind calls host_time device_time",
    ("overview", "user_events"):
        "name calls host_total host_share device_total device_share host_mean device_mean",
    ("overview", "step_trace"):
        "stage duration share basis",
    ("overview", "operator_types"):
        "type calls total mean share side",
    ("overview", "data_flow"):
        "stage status steps empty full batches",
    ("overview", "work"):
        "key value",
    ("steps", "steps"):
        "step duration gap forward_backward communication exposed_communication tail total start end source cut",
    ("steps", "segments"):
        "step stage name start duration exposed track",
    ("steps", "distribution"):
        "part mean share p50 p90 max min p10 steps",
    ("steps", "bands"):
        "first_step last_step p10 p50 p90 steps",
    ("steps", "compilations"):
        "step what duration why file line start slice",
    ("steps", "average"):
        "stage duration share name start track",
    ("steps", "points"):
        "point name source",
    ("steps", "iterations"):
        "step kind batch tokens duration busy start",
    ("steps", "serving"):
        "kind iterations output_tokens output_tokens_per_s time_per_output_token mean busy_share tokens tokens_per_s time",
    ("serving", "iterations"):
        "step phase duration gap_before requests prompt_tokens output_tokens compute sampling launch idle copies communication start slice",
    ("serving", "serving"):
        "iterations wall prompt_tokens_per_s output_tokens_per_s batch gaps gap_share prompt_tokens output_tokens",
    ("serving", "phases"):
        "phase iterations mean p50 max gap_before share batch prompt_tokens output_tokens time",
    ("serving", "parts"):
        "phase part time share total",
    ("graphs", "operators"):
        "op time share kernels mean",
    ("graphs", "parts"):
        "op module time share kernels mean parent",
    ("graphs", "graphs"):
        "step duration busy kernels capture agree start slice",
    ("requests", "latency"):
        "metric p50 p90 p99 max mean requests p99_request p90_request p50_request max_request",
    ("requests", "requests"):
        "id latency ttft own waiting scheduler other blocker blocked prompt_tokens output_tokens per_token queue prefill decode arrival first_token end",
    ("requests", "blocked_by"):
        "request blocker time share",
    ("requests", "load"):
        "part expected counted difference arrivals_per_s mean_time",
    ("memory", "parts"):
        "device category bytes share blocks estimated",
    ("memory", "part_contents"):
        "category op bytes module line allocations device",
    ("memory", "growth"):
        "growth op per_step line module at_first at_last steps device",
    ("memory", "oom"):
        "cause requested allocated reserved unused capacity missing time device",
    ("memory", "oom_contents"):
        "category op bytes module line allocations",
    ("memory", "curve"):
        "time device allocated reserved",
    ("memory", "peak_contents"):
        "device op bytes allocations",
    ("memory", "contents"):
        "device name bytes allocations time",
    ("memory", "events"):
        "op device bytes allocated_at released_at duration kind address",
    ("memory", "statistics"):
        "op device calls self_size_increase size_increase self_allocation_bytes allocation_bytes self_allocations allocations",
    ("memory", "peaks"):
        "device allocated before reserved unused capacity time",
    ("fits", "fits"):
        "batch length allocated reserved least most limit fits largest device",
    ("fits", "batches"):
        "batch allocated reserved fits least most",
    ("fits", "parts"):
        "category bytes share recorded",
    ("fits", "blocks"):
        "category op bytes grows_with module line recorded allocations",
    ("fits", "recorded"):
        "recording batch length allocated replayed reserved replayed_reserved",
    ("fits", "unknown"):
        "reason bytes share why blocks",
    ("modules", "modules"):
        "module depth calls device_total device_self host_total host_self backward_device backward_host parent",
    ("lines", "lines"):
        "file line function critical_ns share idle_ns cpu_ns cpu_self_ns gpu_ns gpu_self_ns",
    ("lines", "functions"):
        "file function critical_ns share idle_ns cpu_ns cpu_self_ns gpu_ns gpu_self_ns",
    ("lines", "files"):
        "file owner critical_ns share idle_ns cpu_ns cpu_self_ns gpu_ns gpu_self_ns",
    ("lines", "stacks"):
        "id parent file line function cpu_ns gpu_ns samples",
    ("pipeline", "queues"):
        "queue step size capacity total get push",
    ("pipeline", "queue_samples"):
        "operator time size capacity",
    ("pipeline", "operators"):
        "operator usage bottleneck workers queue_mean queue_capacity empty_share cpu_per_worker parent",
    ("pipeline", "flow"):
        "stage status steps empty full batches",
    ("pipeline", "suggestions"):
        "operator suggestion parameter class",
    ("pipeline", "loading"):
        "step time share",
    ("pipeline", "cpu"):
        "scope operator kind mean samples",
    ("pipeline", "cpu_samples"):
        "time step scope operator kind value",
    ("pipeline", "findings"):
        "operator finding rule value limit",
    ("pipeline", "dataset_stages"):
        "operation stage calls total mean info",
    ("distributed", "overlap"):
        "worker rank computation overlapping communication other",
    ("distributed", "synchronization"):
        "worker rank transfer waiting last caused",
    ("distributed", "collectives"):
        "worker name calls bytes total transfer waiting bus_bandwidth mean_bytes rank",
    ("distributed", "arrivals"):
        "name rank step start late_by duration group sequence worker",
    ("distributed", "devices"):
        "worker rank device name utilization sm_efficiency occupancy tensor_core_share memory_bytes compute_capability sm_count",
    ("distributed", "cluster_steps"):
        "worker step interval forward_backward tail total computation communication_alone stage receive_alone collective_alone stage_time rank",
    ("distributed", "communication"):
        "worker step communication waiting operators rank",
    ("distributed", "communication_ops"):
        "worker name communication waiting step rank",
    ("distributed", "links"):
        "worker source target kind time bytes bandwidth step waiting rank",
    ("distributed", "resources"):
        "worker flops flops_share flops_per_s flops_utilization memory_peak memory_capacity memory_share stage rank",
    ("distributed", "parallel_stages"):
        "stage mode ranks",
    ("distributed", "parallel_operators"):
        "name type sharding group kind shape data_type stage inputs id",
    ("distributed", "heat_map"):
        "rank step total computation communication waiting late cause transfer worker",
    ("distributed", "origins"):
        "rank step place cause cost file line worker",
    ("distributed", "chain"):
        "rank start duration kind time collective waiting waited step worker",
    ("distributed", "lanes"):
        "rank start duration kind waits_for collective step stage worker",
    ("distributed", "stragglers"):
        "rank worker cause steps late cost share host",
    ("distributed", "hosts"):
        "host ranks cause steps late cost share",
    ("distributed", "slow_steps"):
        "step total usual cost rank cause worker",
    ("distributed", "groups"):
        "group kind size ranks calls bytes bandwidth slower_by slow cost transfer waiting",
    ("distributed", "transfers"):
        "from_rank to_rank calls bytes bandwidth slower_by slow cost transfer waiting group",
    ("distributed", "clocks"):
        "rank aligned offset drift_ppm residual collectives start worker",
    ("distributed", "what_if"):
        "scenario step_time saves share",
    ("advise", "advice"):
        "title saves share included_in severity id step workers worker evidence suggestion",
    ("advise", "events"):
        "advice name cost from step kind",
    ("diff", "program_changes"):
        "title change",
    ("diff", "causes"):
        "title change share certain evidence id",
    ("diff", "changes"):
        "metric a b change low high judgment detectable unit",
    ("diff", "operators"):
        "name change device_a device_b host_a host_b calls_a calls_b status",
    ("diff", "kernels"):
        "name change device_a device_b host_a host_b calls_a calls_b status",
    ("diff", "graph_nodes"):
        "name_a name_b position_a position_b change a b calls_a calls_b status call",
    ("hang", "hangs"):
        "name group sequence cause culprits waiting description",
    ("hang", "members"):
        "rank state name group sequence last_sequence last_name called_from",
    ("critical", "by_name"):
        "kind name time share pieces rank",
    ("critical", "by_rank"):
        "rank time share device communication host ends worker",
    ("critical", "legs"):
        "step rank duration after kind name time",
    ("critical", "by_module"):
        "module time share pieces rank",
    ("critical", "by_line"):
        "line time share pieces rank",
    ("critical", "slack"):
        "kind name slack least time off_path",
    ("critical", "ranks"):
        "rank group part share late lost step_after stage host worker",
    ("idle", "causes"):
        "device cause time share total count name",
    ("idle", "details"):
        "cause what name time share operator count",
    ("idle", "gaps"):
        "step duration cause name before after device start",
    ("idle", "steps"):
        "step device total idle host_late blocked dependency data communication",
    ("idle", "streams"):
        "stream cause time share count mean max device p50",
    ("idle", "queue"):
        "stream time_mean max mean p50 full count device",
    ("idle", "launches"):
        "name count call_mean device_mean delay_mean short long_calls long_delays call",
    ("idle", "op_launches"):
        "op kernels count op_delay launch_delay",
    ("idle", "copies"):
        "name calls bytes time bandwidth mean max p50",
    ("whatif", "whatif"):
        "change step_before step_after least most saves share speedup",
    ("check", "checks"):
        "metric result base candidate limit change low high reason",
    ("check", "causes"):
        "title change share certain evidence id",
    ("history", "changes"):
        "metric value_before value_after change commit certain at",
    ("history", "points"):
        "point commit step device host memory kernels",
    ("top", "device"):
        "time share name type flops bandwidth computation memory",
    ("top", "host"):
        "time share name type flops bandwidth computation memory",
}

Text = Union[str, int, float, Sequence[str]]
Steps = Union[int, str]  # 3 or "3..5"
Size = Union[int, str]  # bytes, or "4G"
Time = Union[int, str]  # nanoseconds, or "12.5ms"


class Analyses:
    """Every analysis of the program; Trace says how a question is asked."""

    def _asked(self, analysis: str, words: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def info(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What the trace contains: format, profiler, devices, steps, event counts, damage.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: trace, events, devices, in_use, workers, runs, passed.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("info", words)

    def operators(
        self,
        *,
        group_by: Optional[Literal["name", "name+shape", "name+stack", "name+shape+stack", "type", "subgraph"]] = None,
        roofline: bool = False,
        peak_tflops: Optional[Text] = None,
        peak_gbps: Optional[Text] = None,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Operator times on the host and on the device.

        group_by: how to group rows: events with the same values become one row.
        roofline: add bytes, arithmetic intensity and shares of the device's peaks.
        peak_tflops: peaks of the device by data type, in 10^12 operations per second, to replace the
            built-in table: bf16=989,fp32=67.
        peak_gbps: peak memory bandwidth of the device in GB/s, to replace the built-in table.
        evidence: add the most expensive timeline event of each row.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: operators, phases, top, flops_scopes, by_step, workers.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("operators", words)

    def kernels(
        self,
        *,
        group_by: Optional[Literal["name", "name+op", "launch"]] = None,
        module: Optional[Text] = None,
        roofline: bool = False,
        peak_tflops: Optional[Text] = None,
        peak_gbps: Optional[Text] = None,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Kernel times on the device.

        group_by: how to group rows: events with the same values become one row.
        module: only kernels of this module, forward and backward; tacho modules lists the names.
        roofline: add bytes, arithmetic intensity and shares of the device's peaks.
        peak_tflops: peaks of the device by data type, in 10^12 operations per second, to replace the
            built-in table: bf16=989,fp32=67.
        peak_gbps: peak memory bandwidth of the device in GB/s, to replace the built-in table.
        evidence: add the most expensive timeline event of each row.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: kernels, top, workers.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("kernels", words)

    def roofline(
        self,
        *,
        group_by: Optional[Literal["name", "name+shape"]] = None,
        peak_tflops: Optional[Text] = None,
        peak_gbps: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """FLOPs, bytes and shares of the device's peaks by operator, and the MFU of the step.

        group_by: how to group rows: events with the same values become one row.
        peak_tflops: peaks of the device by data type, in 10^12 operations per second, to replace the
            built-in table: bf16=989,fp32=67.
        peak_gbps: peak memory bandwidth of the device in GB/s, to replace the built-in table.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: points, ridges, mfu, coverage.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("roofline", words)

    def overview(
        self,
        *,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Is the device busy, and if not, what is it waiting for: devices, average step, stages.

        evidence: add the most expensive timeline event of each row.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: devices, breakdown, idle, unprofiled, spread, steps, stages, stage_steps, configuration,
            in_use, stage_events, user_events, step_trace, operator_types, data_flow, work.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("overview", words)

    def steps(
        self,
        *,
        fp_point: Optional[Text] = None,
        bp_point: Optional[Text] = None,
        end_point: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Do all steps take the same time, and if not, which step is slow, and which part of it.

        fp_point: operator that starts the forward pass, by full name or its last part; same as
            PROFILING_FP_START and FP_POINT in the environment.
        bp_point: operator that ends the backward pass, by full name or its last part; same as
            PROFILING_BP_END and BP_POINT in the environment.
        end_point: operator that ends the step, by full name or its last part; same as PROFILING_ITER_END
            in the environment.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: steps, segments, distribution, bands, compilations, average, points, iterations, serving.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("steps", words)

    def serving(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What a server for language models does in each iteration, and what between them.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: iterations, serving, phases, parts.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("serving", words)

    def graphs(
        self,
        *,
        other: Optional[Text] = None,
        other_worker: Optional[Text] = None,
        other_step: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What replayed graphs consist of: operators and modules, from the trace of their capture.

        other: the trace in which the graphs were captured, if that is another one; can also be given as
            the second TRACE.
        other_worker: worker of the second run (default: the one with the same name as in the first); on
            the server, given alone: another worker of the same run.
        other_step: all: the steps chosen are only those of the first trace; needed with --step and a
            second trace.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: operators, parts, graphs.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("graphs", words)

    def requests(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """How long each request of a server took, and which other requests it waited for.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: latency, requests, blocked_by, load.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("requests", words)

    def memory(
        self,
        *,
        at: Optional[Time] = None,
        by: Optional[Literal["op", "module", "size"]] = None,
        points: Optional[int] = None,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Is there enough memory, does usage grow, and what uses it.

        at: time at which to list the contents, as an offset from the start of the trace, such as 12.5ms,
            or whole nanoseconds (default: the peak of each device).
        by: how to group the table contents.
        points: approximate number of points in the curve of each device, keeping all peaks and valleys; 0
            gives all.
        evidence: add the most expensive timeline event of each row.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: parts, part_contents, growth, oom, oom_contents, curve, peak_contents, contents, events,
            statistics, peaks.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("memory", words)

    def fits(
        self,
        *,
        other: Optional[Text] = None,
        batch: Optional[int] = None,
        length: Optional[int] = None,
        device: Optional[Text] = None,
        allocator: Optional[Literal["auto", "caching", "expandable", "exact"]] = None,
        recorded_batch: Optional[Text] = None,
        recorded_length: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Does the program fit into memory with another batch or length, and what would use it.

        other: a second recording of the same program with another batch or length: sizes are then known,
            not assumed.
        batch: batch size to ask about; 0: as recorded.
        length: length of a sequence, or side of an image, to ask about; 0: as recorded.
        device: memory that the allocator may take, such as 80G (80 GiB, as accelerators are sold); by
            default that of the recorded device.
        allocator: how memory is taken from the device: by PyTorch's caching allocator, the same with
            expandable segments, or exactly as asked for; auto: caching for an accelerator or with a
            device, otherwise exact.
        recorded_batch: batch size of each recording, where the shapes do not say it.
        recorded_length: length of each recording, where the shapes do not say it.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: fits, batches, parts, blocks, recorded, unknown.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("fits", words)

    def modules(
        self,
        *,
        group_by: Optional[Literal["name", "type"]] = None,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Which layer of the model takes the time, forward and backward.

        group_by: name: one row per instance, as a tree; type: one row per class.
        evidence: add the most expensive timeline event of each row.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: modules.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("modules", words)

    def lines(
        self,
        *,
        by: Optional[Literal["all", "line", "function", "file", "stack"]] = None,
        stack: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What each line of the program costs: CPU time, GPU time, idle time it causes, memory.

        by: which table to fill: lines, functions, files or call stacks; all: every one.
        stack: table stacks: only call stacks with this line; FILE is a path or its end.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: lines, functions, files, stacks.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("lines", words)

    def pipeline(
        self,
        *,
        high: Optional[Text] = None,
        low: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Does the data arrive in time, and if not, which part of the input pipeline is slow.

        high: fill level (0 to 1) at which a queue counts as full; if all queues are full, the consumer is
            the bottleneck.
        low: a source whose queue is filled less than this (0 to 1) is slow.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: queues, queue_samples, operators, flow, suggestions, loading, cpu, cpu_samples, findings,
            dataset_stages.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("pipeline", words)

    def distributed(
        self,
        *,
        arrivals: Optional[int] = None,
        lanes: Optional[int] = None,
        map_steps: Optional[int] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Which rank is slow, why, and what it costs the others.

        arrivals: maximum rows of table arrivals, for the collectives that lose the most time (0: all
            known).
        lanes: maximum ranks in table lanes: first the late ones (0: all).
        map_steps: maximum columns of table heat_map: neighboring steps are combined, with mean times and
            the largest late (0: every step).
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: overlap, synchronization, collectives, arrivals, devices, cluster_steps, communication,
            communication_ops, links, resources, parallel_stages, parallel_operators, heat_map, origins,
            chain, lanes, stragglers, hosts, slow_steps, groups, transfers, clocks, what_if.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("distributed", words)

    def advise(
        self,
        *,
        evidence: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """What to change first and how much it would save; with --all-workers, also across workers.

        evidence: list the events each piece of advice is based on, the most expensive first.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: advice, events.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("advise", words)

    def diff(
        self,
        *,
        other: Optional[Text] = None,
        other_worker: Optional[Text] = None,
        other_step: Optional[Text] = None,
        base_runs: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What changed between two runs, and why: causes that add up to the change of the step.

        other: the second run; can also be given as the second TRACE.
        other_worker: worker of the second run (default: the one with the same name as in the first); on
            the server, given alone: another worker of the same run.
        other_step: steps of the second run, if different from --step; also TRACE@A..B.
        base_runs: more runs of the first program, separated by commas: the differences between them show
            which changes are certain.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: program_changes, causes, changes, steps, ranks, breakdown, operators, kernels,
            graph_nodes, parity.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("diff", words)

    def hang(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Which collective hangs, and which rank never reached it.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: hangs, members.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("hang", words)

    def critical(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What is the bottleneck of a step: its critical path, from the end of the step back to its
        start.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: by_kind, by_name, by_rank, legs, by_module, by_line, slack, path, ranks, stages.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("critical", words)

    def idle(
        self,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Why the device is idle: every idle nanosecond by cause, what the CPU did meanwhile, the longest
        gaps, queues and launches.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: causes, details, gaps, steps, streams, queue, launches, op_launches, copies.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("idle", words)

    def whatif(
        self,
        *,
        scale: Optional[Text] = None,
        remove: Optional[Text] = None,
        no_launch_cost: bool = False,
        no_sync: bool = False,
        no_data_wait: bool = False,
        no_communication: bool = False,
        overlap_communication: bool = False,
        network: Optional[Text] = None,
        batch: Optional[Text] = None,
        cuda_graph: bool = False,
        unprofiled: bool = False,
        no_stragglers: bool = False,
        rank: Optional[Text] = None,
        balance_stages: bool = False,
        no_bubbles: bool = False,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """How long a step would be if something were faster or removed: replays the recording with the
        change.

        scale: multiply the time by FACTOR: kernel (device work by name), op (calls with everything
            inside: host time and device work; a pattern with [ also matches input shapes), module
            (including its backward pass), range; * matches anything; can be repeated (docs/WHY.md).
        remove: the same with factor 0: as if it did not exist.
        no_launch_cost: launches take no time: neither the call nor the latency to the device.
        no_sync: calls that wait for the device return at once.
        no_data_wait: no waiting for data: removes data loading, and the time at the start of a step
            before its first launch.
        no_communication: collectives take no time, on the device and on the host.
        overlap_communication: collectives overlap with everything else; a step still takes at least as
            long as its collectives.
        network: another network: bandwidth=2 is twice as fast, latency=0.5 half as long; the recorded
            latency and bandwidth are estimated from the collectives.
        batch: a batch FACTOR times as large; SIZE is the recorded one (default: from the input shapes).
        cuda_graph: each step as a CUDA graph: all work launched at once, 0.6 µs between kernels, and no
            host time except data loading.
        unprofiled: subtract the estimated cost of recording.
        no_stragglers: for a run of several ranks: no rank and no group is late.
        rank: for a run of several ranks: this rank is as fast as others that do the same work, or takes
            FACTOR times its own time; can be repeated.
        balance_stages: for a run of several ranks: the pipeline stages share the work evenly.
        no_bubbles: for a run of several ranks: no stage waits for another one.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: whatif, steps.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("whatif", words)

    def check(
        self,
        *,
        other: Optional[Text] = None,
        other_worker: Optional[Text] = None,
        base_runs: Optional[Text] = None,
        max_regress: Optional[Text] = None,
        require: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Is a run worse than its base, or does it exceed a budget; exit status 4 on a regression.

        other: the candidate; can also be given as the second TRACE.
        other_worker: worker of the second run (default: the one with the same name as in the first); on
            the server, given alone: another worker of the same run.
        base_runs: more runs of the first program, separated by commas: the differences between them show
            which changes are certain.
        max_regress: how much worse than the base step, device, host, memory, kernels and MFU may be.
        require: a limit, such as "step <= +5 %" or "memory < 40 GiB"; separate several with ;
            (docs/CI.md).
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: checks, causes, parity.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("check", words)

    def history(
        self,
        *,
        min_change: Optional[Text] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """How step, device, host, memory, kernels and MFU changed over a folder of baselines, and at
        which commit.

        min_change: smallest change to list.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: changes, points, trend.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("history", words)

    def top(
        self,
        *,
        top: Optional[Text] = None,
        type: Optional[Text] = None,
        opr_name: Optional[Text] = None,
        input_dtype: Optional[Text] = None,
        aggregate_by: Optional[Literal["none", "type"]] = None,
        aggregate: Optional[Literal["none", "max", "min", "sum", "mean"]] = None,
        top_end_key: Optional[Literal["end", "kern"]] = None,
        order_by: Optional[Text] = None,
        min_time: Optional[Text] = None,
        max_time: Optional[Text] = None,
        copy_time: bool = False,
        show_host: bool = False,
        dump_only_opr: bool = False,
        confluence: bool = False,
        print_only: Optional[Literal["all", "summary", "device", "host"]] = None,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        sort: Optional[Text] = None,
        search: Optional[Text] = None,
        filter: Optional[Text] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """The longest operators with computation, memory, and rates (MegEngine's profile_analyze).

        top: records per table (-t); 0 shows all, a negative number leaves out that many at the end.
        type: keep operators of this type; can be repeated.
        opr_name: keep operators whose name starts with a match of this regular expression.
        input_dtype: keep operators with an input of this data type.
        aggregate_by: groups for --aggregate: by type, or everything in one group.
        aggregate: one record per group: max, min, sum, or mean of time, computation, and memory.
        top_end_key: end: the whole time; kern: only the time until the kernel starts.
        order_by: sort by time, computation, memory, flops, bandwidth, or opr_id, largest first; prefix +
            for smallest first.
        min_time: keep operators that take at least this many seconds.
        max_time: keep operators that take at most this many seconds.
        copy_time: also show the time of copies between devices and how long they waited.
        show_host: also show the table of host times.
        dump_only_opr: name, type, and id of each record on one line, to compare two runs.
        confluence: tables for wikis, with bars (same as --wiki).
        print_only: print only this part.
        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        sort: columns to sort by, most important first; numbers sort descending and text ascending unless
            you add :asc or :desc.
        search: only rows that contain this text in some column, ignoring case.
        filter: only rows that match every word: letters in order, "exact text", -without, column:word,
            column="whole value", >5ms, mean<=2MB; best match first unless sorted.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).

        Tables: summary, device, host.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("top", words)

    def query(
        self,
        sql: str,
        *,
        run: Optional[Text] = None,
        worker: Optional[Text] = None,
        span: Optional[Text] = None,
        all_workers: bool = False,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        step: Optional[Steps] = None,
        limit: Optional[int] = None,
        all: bool = False,
        color: Optional[Literal["auto", "always", "never"]] = None,
        limit_time: Optional[Time] = None,
        limit_memory: Optional[Size] = None,
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """The answer to a question in SQL, about all tables of the trace and of the analyses
        (docs/QUERY.md); ".tables" lists them, ".schema TABLE" the columns of one.

        run: run to use, by name or by number in order of time (default: the newest).
        worker: worker to use (default: the first rank; without ranks the newest trace).
        span: recording cycle, numbered from 1 in order of time (default: the last).
        all_workers: all workers of the run, from their per-step summaries; if the time window cuts
            through a step, the traces of up to 16 workers are read (with more workers, whole steps are
            used); export and query merge the traces onto one clock.
        from_: start of the time window, as an offset from the start of the trace: 250us, 12.5ms, 1.2s, or
            whole nanoseconds.
        to: end of the time window, written like its start; times are clipped to it, calls count where
            they start.
        step: only these training steps; device work belongs to the step that launched it.
        limit: maximum rows per table; 0 shows all.
        all: show every table and row on a terminal, and everywhere what was repaired in the file and
            which tables are empty.
        color: when to use colors; auto: on a terminal, unless NO_COLOR is set or TERM is dumb;
            CLICOLOR_FORCE turns them on everywhere.
        limit_time: time limit of a query (default: 1min, 0: none).
        limit_memory: memory limit of a query (default: 1GiB, 0: none).
        threads: number of threads (default: one per CPU).
        no_cache: do not read or write the cache of opened traces.
        memory_limit: memory limit for reading and holding traces, such as 4G; each query may use as much
            again (default: a third of the memory of the machine or container for the traces held; reading
            one may briefly take three times its size).
        stable: omit timestamps and paths, so that the same trace always gives the same output.
        strict: treat damaged input as an error.
        lang: language of the output (default: from the environment).
        """
        words = dict(locals())
        del words["self"]
        return self._asked("query", words)
