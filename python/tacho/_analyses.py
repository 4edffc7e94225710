"""What a trace can be asked, as methods; made by tools/generate; do not edit."""
from __future__ import annotations  # help() shows the short names of types

from typing import Any, Dict, Literal, Optional, Sequence, Union

from .tables import Answer, Table

VERSION = "0.1.0"
# Analyses whose answer is given as its first table.
FIRST_TABLES = {
    "operators": "operators",
    "kernels": "kernels",
    "steps": "steps",
    "modules": "modules",
    "advise": "advice",
}

Text = Union[str, int, float, Sequence[str]]
Steps = Union[int, str]  # 3 or "3..5"
Size = Union[int, str]  # bytes, or "4G"
Time = str  # "12.5ms"


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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """What a trace is: format, producer, devices, steps, counts of events, damage.

        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: trace, events, devices.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("info", words)

    def operators(
        self,
        *,
        group_by: Optional[Literal["name", "name+shape", "name+stack", "name+shape+stack", "type", "subgraph"]] = None,
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Time of the framework's operators on the host and on the device.

        group_by: what makes one row: events that agree in all of these are added up.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Time of the kernels on the device.

        group_by: what makes one row: events that agree in all of these are added up.
        module: only kernels that this module caused, forward and backward; tacho modules lists the names.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: kernels, top, workers.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("kernels", words)

    def overview(
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Is the device busy, and if not, whom does it wait for: devices, the average step, stages.

        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: devices, breakdown, steps, stages, stage_steps, configuration, stage_events, user_events,
            step_trace, operator_types, data_flow, work.
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Are steps alike, which one is not, and which part of it.

        fp_point: operator whose start begins the forward pass, full name or the last part of it;
            PROFILING_FP_START and FP_POINT in the environment say the same.
        bp_point: operator whose end finishes the backward pass, full name or the last part of it;
            PROFILING_BP_END and BP_POINT in the environment say the same.
        end_point: operator whose end finishes the step, full name or the last part of it;
            PROFILING_ITER_END in the environment says the same.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: steps, segments, distribution, bands, average, points.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("steps", words)

    def memory(
        self,
        *,
        at: Optional[Time] = None,
        by: Optional[Literal["op", "module", "size"]] = None,
        points: Optional[int] = None,
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Does the memory suffice, does it grow, and what holds it.

        at: moment whose contents are listed, an offset from the start of the trace such as 12.5ms; the
            peak of each device if not given.
        by: what the table contents is added up by.
        points: about as many points of the curve for each device as this, with all peaks and valleys; 0
            gives all.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: curve, peak_contents, contents, events, statistics, peaks.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("memory", words)

    def modules(
        self,
        *,
        group_by: Optional[Literal["name", "type"]] = None,
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """Which layer of the model costs the time, forward and backward.

        group_by: name: one row for each instance, as a tree; type: one row for each class.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: modules.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("modules", words)

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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Does the data arrive in time, and if not, which part of its way is slow.

        high: share of a queue's length from which it counts as full (0 to 1): when all are, the consumer
            is the slow one.
        low: a source whose queue is less full than this (0 to 1) is slow.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """Which rank, doing what, and what it costs the others.

        arrivals: at most so many rows of table arrivals: members of the collectives in which most time
            was lost (0: all that are known).
        map_steps: at most so many columns of table heat_map: neighboring steps are joined, their times
            are means, of late the greatest (0: every step).
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: overlap, synchronization, collectives, arrivals, devices, cluster_steps, communication,
            communication_ops, links, resources, parallel_stages, parallel_operators, heat_map,
            stragglers, hosts, slow_steps, groups, transfers, clocks, what_if.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("distributed", words)

    def advise(
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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Table:
        """What to change first, and what it would save; with --all-workers also across workers.

        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: advice.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("advise", words)

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
        threads: Optional[int] = None,
        no_cache: bool = False,
        memory_limit: Optional[Size] = None,
        stable: bool = False,
        strict: bool = False,
        lang: Optional[Literal["en", "zh"]] = None,
    ) -> Answer:
        """The operators that take longest one by one, with computation, memory and rates (MegEngine's
        profile_analyze).

        top: Records of each table (-t); 0 shows all, a negative number leaves that many out at the end.
        type: Keep operators of this type; may be given several times.
        opr_name: Keep operators whose name begins with what the regular expression matches.
        input_dtype: Keep operators with an input of this data type.
        aggregate_by: Groups for --aggregate: the types, or everything in one.
        aggregate: One record for each group: the largest, smallest, sum or mean of time, computation and
            memory.
        top_end_key: end: the whole time; kern: only the waiting until the kernel starts.
        order_by: Sort by time, computation, memory, flops, bandwidth or opr_id, largest first; + smallest
            first.
        min_time: Keep operators that take at least this many seconds.
        max_time: Keep operators that take at most this many seconds.
        copy_time: Also the time of copies between devices and how long they waited.
        show_host: Also the table of host times.
        dump_only_opr: Name, type and id of each record on a line, to compare two runs.
        confluence: Tables for wikis, with bars (--wiki is the same).
        print_only: Print only this part.
        run: the run, of a folder with several.
        worker: the worker; the first by rank or name if not given.
        span: the recording cycle, numbered from 1 by time; the last if not given.
        all_workers: all workers of the run, where the analysis can: from their summaries, which know
            steps; a window that cuts a step reads the traces of up to 16 workers, of more it takes whole
            steps and says so; export merges the traces on one clock.
        from_: start of the window, an offset from the start of the trace such as 12.5ms.
        to: end of the window; times are clipped to it, calls count where they start.
        step: only these training steps; device work belongs to the step of its launch.
        sort: columns to sort by, the first counts most; numbers fall and texts rise unless :asc or :desc
            says otherwise.
        search: only rows with this text in a column, upper and lower case alike.
        filter: only rows that fit every word: letters in order, "as it is", -without, column:word,
            column="all of it", >5ms, mean<=2MB; best fit first unless sorted.
        limit: at most this many rows of each table; 0 shows all.
        threads: number of threads; as many as there are processors if not given.
        no_cache: neither read nor write the cache of opened traces.
        memory_limit: refuse to use more memory than this, such as 4G.
        stable: leave out times of day and paths, so that the same trace gives the same bytes.
        strict: make damage of the input an error.
        lang: language of the words; the environment's if not given.

        Tables: summary, device, host.
        """
        words = dict(locals())
        del words["self"]
        return self._asked("top", words)
