// made by tools/generate; do not edit
// What the analyses return: the columns of every table, and their own parameters.

export interface Tables {
  info: {
    trace: {
      key: string | null;
      value: string | null;
    };
    events: {
      kind: string | null;
      count: number | null;
    };
    devices: {
      device: number | null;
      name: string | null;
      memory_bytes: number | null;
      compute_capability: string | null;
      sm_count: number | null;
      unit: string | null;
      matrix_unit: string | null;
    };
    in_use: {
      what: string | null;
      count: number | null;
      evidence: string | null;
    };
    workers: {
      worker: string | null;
      rank: number | null;
      role: string | null;
      what: string | null;
      spans: number | null;
    };
    runs: {
      number: number | null;
      run: string | null;
      time: string | null;
      ranks: number | null;
      workers: number | null;
    };
    passed: {
      file: string | null;
      what: string | null;
      why: string | null;
    };
  };
  operators: {
    operators: {
      name: string | null;
      full_name: string | null;
      side: string | null;
      type: string | null;
      info: string | null;
      calls: number | null;
      mean: number | null;
      max: number | null;
      min: number | null;
      share: number | null;
      host_total: number | null;
      host_self: number | null;
      device_total: number | null;
      device_self: number | null;
      tensor_core_eligible: boolean | null;
      tensor_core_self_share: number | null;
      tensor_core_total_share: number | null;
      flops: number | null;
      flops_per_s: number | null;
      shapes?: string | null;
      stack?: string | null;
      device_mean: number | null;
      device_max: number | null;
      device_min: number | null;
      subgraph: string | null;
      dispatch_mean: number | null;
      vector_flops: number | null;
      vector_flops_per_s: number | null;
      flops_utilization: number | null;
      device_inferred: number | null;
      slice?: number | null;
      at?: number | null;
      bytes?: number | null;
      bytes_per_s?: number | null;
      intensity?: number | null;
      peak_share?: number | null;
      bandwidth_share?: number | null;
      bound?: string | null;
    };
    phases: {
      op: string | null;
      name: string | null;
      phase: string | null;
      calls: number | null;
      host_total: number | null;
      host_share: number | null;
      device_total: number | null;
      device_share: number | null;
      host_mean: number | null;
      host_max: number | null;
      host_min: number | null;
      device_mean: number | null;
      device_max: number | null;
      device_min: number | null;
      parent: string | null;
      shapes?: string | null;
    };
    top: {
      name: string | null;
      side: string | null;
      calls: number | null;
      total: number | null;
      mean: number | null;
      share: number | null;
    };
    flops_scopes: {
      source: string | null;
      target: string | null;
      flops: number | null;
    };
    by_step: {
      step: number | null;
      level: string | null;
      side: string | null;
      type: string | null;
      name: string | null;
      op: string | null;
      duration: number | null;
      shapes: string | null;
      grid: string | null;
      block: string | null;
    };
    workers: {
      name: string | null;
      workers: number | null;
      p50: number | null;
      p90: number | null;
      p99: number | null;
      least: number | null;
      median: number | null;
      mean: number | null;
      worst: number | null;
      worst_worker: string | null;
    };
  };
  kernels: {
    kernels: {
      name: string | null;
      op: string | null;
      class: string | null;
      calls: number | null;
      total: number | null;
      mean: number | null;
      max: number | null;
      min: number | null;
      share: number | null;
      tensor_core: boolean | null;
      blocks_per_sm: number | null;
      occupancy: number | null;
      source: string | null;
      fused: string | null;
      slice?: number | null;
      at?: number | null;
      grid?: string | null;
      block?: string | null;
      registers?: number | null;
      shared_memory?: number | null;
      flops?: number | null;
      flops_per_s?: number | null;
      bytes?: number | null;
      bytes_per_s?: number | null;
      intensity?: number | null;
      peak_share?: number | null;
      bandwidth_share?: number | null;
      bound?: string | null;
    };
    top: {
      name: string | null;
      side: string | null;
      calls: number | null;
      total: number | null;
      mean: number | null;
      share: number | null;
    };
    workers: {
      name: string | null;
      workers: number | null;
      p50: number | null;
      p90: number | null;
      p99: number | null;
      least: number | null;
      median: number | null;
      mean: number | null;
      worst: number | null;
      worst_worker: string | null;
    };
  };
  roofline: {
    points: {
      name: string | null;
      shapes?: string | null;
      type: string | null;
      unit: string | null;
      calls: number | null;
      time: number | null;
      share: number | null;
      flops: number | null;
      bytes: number | null;
      intensity: number | null;
      flops_per_s: number | null;
      bytes_per_s: number | null;
      peak_share: number | null;
      bandwidth_share: number | null;
      roof_share: number | null;
      bound: string | null;
    };
    ridges: {
      type: string | null;
      unit: string | null;
      peak: number | null;
      bandwidth: number | null;
      intensity: number | null;
      source: string | null;
    };
    mfu: {
      mfu: number | null;
      steps: number | null;
      step_time: number | null;
      flops: number | null;
      type: string | null;
      type_share: number | null;
      peak: number | null;
    };
    coverage: {
      known: string | null;
      time: number | null;
      share: number | null;
    };
  };
  overview: {
    devices: {
      device: number | null;
      name: string | null;
      utilization: number | null;
      sm_efficiency: number | null;
      occupancy: number | null;
      tensor_core_share: number | null;
      mfu: number | null;
    };
    breakdown: {
      category: string | null;
      time: number | null;
      share: number | null;
      slice?: number | null;
      from?: number | null;
      to?: number | null;
    };
    idle: {
      device: number | null;
      cause: string | null;
      time: number | null;
      share: number | null;
      name: string | null;
      count: number | null;
      slice: number | null;
      total: number | null;
    };
    unprofiled: {
      recorded: number | null;
      step: number | null;
      least: number | null;
      most: number | null;
      idle_share: number | null;
    };
    spread: {
      category: string | null;
      min: number | null;
      median: number | null;
      max: number | null;
      min_worker: string | null;
      max_worker: string | null;
    };
    steps: {
      step: number | null;
      total: number | null;
      kernel: number | null;
      memcpy: number | null;
      memset: number | null;
      communication: number | null;
      runtime: number | null;
      data_loader: number | null;
      cpu_exec: number | null;
      other: number | null;
    };
    stages: {
      stage: string | null;
      calls: number | null;
      host_time: number | null;
      device_time: number | null;
      host_mean: number | null;
      device_mean: number | null;
      host_max: number | null;
      device_max: number | null;
      host_min: number | null;
      device_min: number | null;
      host_share: number | null;
      device_share: number | null;
      from?: number | null;
      to?: number | null;
    };
    stage_steps: {
      step: number | null;
      stage: string | null;
      host_time: number | null;
      device_time: number | null;
    };
    configuration: {
      key: string | null;
      value: string | null;
    };
    in_use: {
      what: string | null;
      count: number | null;
      evidence: string | null;
    };
    stage_events: {
      stage: string | null;
      kind: string | null;
      host_time: number | null;
      device_time: number | null;
      calls: number | null;
    };
    user_events: {
      name: string | null;
      calls: number | null;
      host_total: number | null;
      device_total: number | null;
      host_mean: number | null;
      host_max: number | null;
      host_min: number | null;
      host_share: number | null;
      device_mean: number | null;
      device_max: number | null;
      device_min: number | null;
      device_share: number | null;
      slice?: number | null;
    };
    step_trace: {
      stage: string | null;
      duration: number | null;
      share: number | null;
      basis: string | null;
    };
    operator_types: {
      type: string | null;
      side: string | null;
      calls: number | null;
      total: number | null;
      mean: number | null;
      share: number | null;
    };
    data_flow: {
      stage: string | null;
      status: string | null;
      steps: number | null;
      empty: number | null;
      full: number | null;
      batches: number | null;
    };
    work: {
      key: string | null;
      value: string | null;
    };
  };
  steps: {
    steps: {
      step: number | null;
      start: number | null;
      end: number | null;
      duration: number | null;
      gap: number | null;
      forward_backward: number | null;
      communication: number | null;
      exposed_communication: number | null;
      tail: number | null;
      total: number | null;
      source: string | null;
      cut: boolean | null;
    };
    segments: {
      step: number | null;
      stage: string | null;
      track: string | null;
      name: string | null;
      start: number | null;
      duration: number | null;
      exposed: number | null;
    };
    distribution: {
      part: string | null;
      steps: number | null;
      mean: number | null;
      share: number | null;
      min: number | null;
      p10: number | null;
      p50: number | null;
      p90: number | null;
      max: number | null;
    };
    bands: {
      first_step: number | null;
      last_step: number | null;
      steps: number | null;
      p10: number | null;
      p50: number | null;
      p90: number | null;
    };
    compilations: {
      step: number | null;
      what: string | null;
      file: string | null;
      line: number | null;
      why: string | null;
      duration: number | null;
      start: number | null;
      slice: number | null;
    };
    average: {
      stage: string | null;
      name: string | null;
      track: string | null;
      start: number | null;
      duration: number | null;
      share: number | null;
    };
    points: {
      point: string | null;
      name: string | null;
      source: string | null;
    };
    iterations: {
      step: number | null;
      kind: string | null;
      batch: number | null;
      tokens: number | null;
      start: number | null;
      duration: number | null;
      busy: number | null;
    };
    serving: {
      kind: string | null;
      iterations: number | null;
      tokens: number | null;
      output_tokens: number | null;
      time: number | null;
      mean: number | null;
      tokens_per_s: number | null;
      output_tokens_per_s: number | null;
      time_per_output_token: number | null;
      busy_share: number | null;
    };
  };
  serving: {
    iterations: {
      step: number | null;
      start: number | null;
      duration: number | null;
      phase: string | null;
      prompt_tokens: number | null;
      output_tokens: number | null;
      requests: number | null;
      gap_before: number | null;
      sampling: number | null;
      compute: number | null;
      communication: number | null;
      copies: number | null;
      launch: number | null;
      idle: number | null;
      slice: number | null;
    };
    serving: {
      iterations: number | null;
      wall: number | null;
      prompt_tokens: number | null;
      output_tokens: number | null;
      prompt_tokens_per_s: number | null;
      output_tokens_per_s: number | null;
      batch: number | null;
      gaps: number | null;
      gap_share: number | null;
    };
    phases: {
      phase: string | null;
      iterations: number | null;
      time: number | null;
      share: number | null;
      mean: number | null;
      p50: number | null;
      max: number | null;
      gap_before: number | null;
      batch: number | null;
      prompt_tokens: number | null;
      output_tokens: number | null;
    };
    parts: {
      phase: string | null;
      part: string | null;
      time: number | null;
      share: number | null;
      total: number | null;
    };
  };
  graphs: {
    operators: {
      op: string | null;
      kernels: number | null;
      time: number | null;
      mean: number | null;
      share: number | null;
    };
    parts: {
      op: string | null;
      module: string | null;
      parent: string | null;
      kernels: number | null;
      time: number | null;
      mean: number | null;
      share: number | null;
    };
    graphs: {
      step: number | null;
      start: number | null;
      duration: number | null;
      busy: number | null;
      kernels: number | null;
      capture: string | null;
      agree: number | null;
      slice: number | null;
    };
  };
  requests: {
    latency: {
      metric: string | null;
      requests: number | null;
      mean: number | null;
      p50: number | null;
      p90: number | null;
      p99: number | null;
      max: number | null;
      p50_request: string | null;
      p90_request: string | null;
      p99_request: string | null;
      max_request: string | null;
    };
    requests: {
      id: string | null;
      arrival: number | null;
      first_token: number | null;
      end: number | null;
      own: number | null;
      waiting: number | null;
      scheduler: number | null;
      other: number | null;
      latency: number | null;
      ttft: number | null;
      per_token: number | null;
      queue: number | null;
      prefill: number | null;
      decode: number | null;
      blocker: string | null;
      blocked: number | null;
      prompt_tokens: number | null;
      output_tokens: number | null;
    };
    blocked_by: {
      request: string | null;
      blocker: string | null;
      time: number | null;
      share: number | null;
    };
    load: {
      part: string | null;
      arrivals_per_s: number | null;
      mean_time: number | null;
      expected: number | null;
      counted: number | null;
      difference: number | null;
    };
  };
  memory: {
    parts: {
      device: string | null;
      category: string | null;
      bytes: number | null;
      share: number | null;
      blocks: number | null;
      estimated: boolean | null;
    };
    part_contents: {
      device: string | null;
      category: string | null;
      op: string | null;
      module: string | null;
      line: string | null;
      bytes: number | null;
      allocations: number | null;
    };
    growth: {
      device: string | null;
      growth: string | null;
      op: string | null;
      module: string | null;
      line: string | null;
      per_step: number | null;
      at_first: number | null;
      at_last: number | null;
      steps: number | null;
    };
    oom: {
      device: string | null;
      time: number | null;
      requested: number | null;
      allocated: number | null;
      reserved: number | null;
      unused: number | null;
      capacity: number | null;
      missing: number | null;
      cause: string | null;
    };
    oom_contents: {
      category: string | null;
      op: string | null;
      module: string | null;
      line: string | null;
      bytes: number | null;
      allocations: number | null;
    };
    curve: {
      time: number | null;
      device: string | null;
      allocated: number | null;
      reserved: number | null;
    };
    peak_contents: {
      device: string | null;
      op: string | null;
      bytes: number | null;
      allocations: number | null;
      slice?: number | null;
    };
    contents: {
      device: string | null;
      name: string | null;
      bytes: number | null;
      allocations: number | null;
      time: number | null;
      slice?: number | null;
    };
    events: {
      op: string | null;
      device: string | null;
      kind: string | null;
      address: string | null;
      bytes: number | null;
      allocated_at: number | null;
      released_at: number | null;
      duration: number | null;
      slice: number | null;
    };
    statistics: {
      op: string | null;
      device: string | null;
      calls: number | null;
      size_increase: number | null;
      self_size_increase: number | null;
      allocations: number | null;
      self_allocations: number | null;
      allocation_bytes: number | null;
      self_allocation_bytes: number | null;
      slice?: number | null;
    };
    peaks: {
      device: string | null;
      time: number | null;
      allocated: number | null;
      reserved: number | null;
      capacity: number | null;
      before: number | null;
      unused: number | null;
    };
  };
  fits: {
    fits: {
      device: string | null;
      batch: number | null;
      length: number | null;
      allocated: number | null;
      reserved: number | null;
      least: number | null;
      most: number | null;
      limit: number | null;
      fits: string | null;
      largest: number | null;
    };
    batches: {
      batch: number | null;
      allocated: number | null;
      reserved: number | null;
      least: number | null;
      most: number | null;
      fits: string | null;
    };
    parts: {
      category: string | null;
      recorded: number | null;
      bytes: number | null;
      share: number | null;
    };
    blocks: {
      category: string | null;
      op: string | null;
      module: string | null;
      line: string | null;
      recorded: number | null;
      bytes: number | null;
      grows_with: string | null;
      allocations: number | null;
    };
    recorded: {
      recording: number | null;
      batch: number | null;
      length: number | null;
      allocated: number | null;
      replayed: number | null;
      reserved: number | null;
      replayed_reserved: number | null;
    };
    unknown: {
      reason: string | null;
      bytes: number | null;
      share: number | null;
      blocks: number | null;
      why: string | null;
    };
  };
  modules: {
    modules: {
      module: string | null;
      parent: string | null;
      depth: number | null;
      calls: number | null;
      host_total: number | null;
      host_self: number | null;
      device_total: number | null;
      device_self: number | null;
      backward_host: number | null;
      backward_device: number | null;
      slice?: number | null;
      at?: number | null;
    };
  };
  lines: {
    lines: {
      file: string | null;
      line: number | null;
      function: string | null;
      owner: string | null;
      calls: number | null;
      cpu_ns: number | null;
      cpu_self_ns: number | null;
      gpu_ns: number | null;
      gpu_self_ns: number | null;
      backward_gpu_ns: number | null;
      idle_ns: number | null;
      critical_ns: number | null;
      share: number | null;
      peak_bytes: number | null;
      syncs: number | null;
      samples: number | null;
      slice: number | null;
    };
    functions: {
      file: string | null;
      function: string | null;
      owner: string | null;
      calls: number | null;
      cpu_ns: number | null;
      cpu_self_ns: number | null;
      gpu_ns: number | null;
      gpu_self_ns: number | null;
      backward_gpu_ns: number | null;
      idle_ns: number | null;
      critical_ns: number | null;
      share: number | null;
      peak_bytes: number | null;
      syncs: number | null;
      samples: number | null;
    };
    files: {
      file: string | null;
      owner: string | null;
      calls: number | null;
      cpu_ns: number | null;
      cpu_self_ns: number | null;
      gpu_ns: number | null;
      gpu_self_ns: number | null;
      backward_gpu_ns: number | null;
      idle_ns: number | null;
      critical_ns: number | null;
      share: number | null;
      peak_bytes: number | null;
      syncs: number | null;
      samples: number | null;
    };
    stacks: {
      id: number | null;
      parent: number | null;
      file: string | null;
      line: number | null;
      function: string | null;
      owner: string | null;
      cpu_ns: number | null;
      gpu_ns: number | null;
      samples: number | null;
    };
  };
  pipeline: {
    queues: {
      queue: string | null;
      step: number | null;
      size: number | null;
      capacity: number | null;
      get: number | null;
      push: number | null;
      total: number | null;
    };
    queue_samples: {
      operator: string | null;
      time: number | null;
      size: number | null;
      capacity: number | null;
    };
    operators: {
      operator: string | null;
      parent: string | null;
      workers: number | null;
      queue_mean: number | null;
      queue_capacity: number | null;
      usage: number | null;
      bottleneck: string | null;
      type: string | null;
      id: number | null;
      empty_share: number | null;
      cpu: number | null;
      cpu_per_worker: number | null;
      interval: number | null;
    };
    flow: {
      stage: string | null;
      status: string | null;
      steps: number | null;
      empty: number | null;
      full: number | null;
      batches: number | null;
    };
    suggestions: {
      operator: string | null;
      class: string | null;
      parameter: string | null;
      suggestion: string | null;
    };
    loading: {
      step: number | null;
      time: number | null;
      share: number | null;
    };
    cpu: {
      scope: string | null;
      operator: string | null;
      kind: string | null;
      mean: number | null;
      samples: number | null;
    };
    cpu_samples: {
      time: number | null;
      step: number | null;
      scope: string | null;
      operator: string | null;
      kind: string | null;
      value: number | null;
    };
    findings: {
      operator: string | null;
      rule: string | null;
      value: number | null;
      limit: number | null;
      finding: string | null;
    };
    dataset_stages: {
      operation: string | null;
      stage: string | null;
      calls: number | null;
      total: number | null;
      mean: number | null;
      info: string | null;
    };
  };
  distributed: {
    overlap: {
      worker: string | null;
      rank: number | null;
      computation: number | null;
      overlapping: number | null;
      communication: number | null;
      other: number | null;
    };
    synchronization: {
      worker: string | null;
      rank: number | null;
      transfer: number | null;
      waiting: number | null;
      last: number | null;
      caused: number | null;
    };
    collectives: {
      worker: string | null;
      rank: number | null;
      name: string | null;
      calls: number | null;
      bytes: number | null;
      mean_bytes: number | null;
      total: number | null;
      transfer: number | null;
      waiting: number | null;
      algorithm_bandwidth: number | null;
      bus_bandwidth: number | null;
    };
    arrivals: {
      group: string | null;
      sequence: number | null;
      name: string | null;
      rank: number | null;
      step: number | null;
      start: number | null;
      late_by: number | null;
      duration: number | null;
      worker: string | null;
    };
    devices: {
      worker: string | null;
      rank: number | null;
      device: number | null;
      name: string | null;
      memory_bytes: number | null;
      compute_capability: string | null;
      sm_count: number | null;
      utilization: number | null;
      sm_efficiency: number | null;
      occupancy: number | null;
      tensor_core_share: number | null;
    };
    cluster_steps: {
      worker: string | null;
      rank: number | null;
      stage: number | null;
      step: number | null;
      interval: number | null;
      forward_backward: number | null;
      tail: number | null;
      total: number | null;
      computation: number | null;
      communication_alone: number | null;
      stage_time: number | null;
      receive_alone: number | null;
      collective_alone: number | null;
    };
    communication: {
      worker: string | null;
      rank: number | null;
      step: number | null;
      communication: number | null;
      waiting: number | null;
      operators: number | null;
    };
    communication_ops: {
      worker: string | null;
      rank: number | null;
      step: number | null;
      name: string | null;
      communication: number | null;
      waiting: number | null;
    };
    links: {
      worker: string | null;
      rank: number | null;
      step: number | null;
      source: number | null;
      target: number | null;
      kind: string | null;
      time: number | null;
      bytes: number | null;
      bandwidth: number | null;
      waiting: number | null;
    };
    resources: {
      worker: string | null;
      rank: number | null;
      stage: number | null;
      flops: number | null;
      flops_share: number | null;
      flops_per_s: number | null;
      flops_utilization: number | null;
      memory_peak: number | null;
      memory_capacity: number | null;
      memory_share: number | null;
    };
    parallel_stages: {
      stage: number | null;
      mode: string | null;
      ranks: string | null;
    };
    parallel_operators: {
      stage: number | null;
      id: string | null;
      name: string | null;
      type: string | null;
      scope: string | null;
      kind: string | null;
      sharding: string | null;
      group: string | null;
      group_ranks: string | null;
      shape: string | null;
      data_type: string | null;
      inputs: string | null;
    };
    heat_map: {
      worker: string | null;
      rank: number | null;
      step: number | null;
      total: number | null;
      computation: number | null;
      communication: number | null;
      transfer: number | null;
      waiting: number | null;
      late: number | null;
      cause: string | null;
    };
    origins: {
      rank: number | null;
      step: number | null;
      place: string | null;
      cause: string | null;
      cost: number | null;
      file: string | null;
      line: number | null;
      worker: string | null;
    };
    chain: {
      rank: number | null;
      step: number | null;
      start: number | null;
      duration: number | null;
      kind: string | null;
      time: number | null;
      collective: string | null;
      waiting: number | null;
      waited: number | null;
      worker: string | null;
    };
    lanes: {
      rank: number | null;
      step: number | null;
      start: number | null;
      duration: number | null;
      kind: string | null;
      waits_for: number | null;
      collective: string | null;
      stage: number | null;
      worker: string | null;
    };
    stragglers: {
      worker: string | null;
      rank: number | null;
      host: string | null;
      cause: string | null;
      steps: number | null;
      late: number | null;
      cost: number | null;
      share: number | null;
    };
    hosts: {
      host: string | null;
      ranks: number | null;
      cause: string | null;
      steps: number | null;
      late: number | null;
      cost: number | null;
      share: number | null;
    };
    slow_steps: {
      step: number | null;
      total: number | null;
      usual: number | null;
      cost: number | null;
      worker: string | null;
      rank: number | null;
      cause: string | null;
    };
    groups: {
      group: string | null;
      kind: string | null;
      size: number | null;
      ranks: string | null;
      calls: number | null;
      bytes: number | null;
      transfer: number | null;
      waiting: number | null;
      bandwidth: number | null;
      slower_by: number | null;
      slow: boolean | null;
      cost: number | null;
    };
    transfers: {
      from_rank: number | null;
      to_rank: number | null;
      group: string | null;
      calls: number | null;
      bytes: number | null;
      transfer: number | null;
      waiting: number | null;
      bandwidth: number | null;
      slower_by: number | null;
      slow: boolean | null;
      cost: number | null;
    };
    clocks: {
      worker: string | null;
      rank: number | null;
      aligned: boolean | null;
      offset: number | null;
      drift_ppm: number | null;
      residual: number | null;
      collectives: number | null;
      start: number | null;
    };
    what_if: {
      scenario: string | null;
      step_time: number | null;
      saves: number | null;
      share: number | null;
    };
  };
  advise: {
    advice: {
      id: string | null;
      severity: string | null;
      title: string | null;
      evidence: string | null;
      suggestion: string | null;
      saves: number | null;
      values: Record<string, unknown> | null;
      share: number | null;
      step: number | null;
      from: number | null;
      to: number | null;
      name: string | null;
      line: string | null;
      basis: string | null;
      included_in: string | null;
      slice?: number | null;
      code: string | null;
      workers: number | null;
      worker: string | null;
    };
    events: {
      advice: string | null;
      slice: number | null;
      name: string | null;
      kind: string | null;
      step: number | null;
      from: number | null;
      to: number | null;
      cost: number | null;
    };
  };
  diff: {
    program_changes: {
      title: string | null;
      status: string | null;
      kind: string | null;
      name: string | null;
      module: string | null;
      inside: string | null;
      calls_a: number | null;
      calls_b: number | null;
      change: number | null;
      slice_a: number | null;
      slice_b: number | null;
      worker_a: string | null;
      worker_b: string | null;
    };
    causes: {
      id: string | null;
      title: string | null;
      evidence: string | null;
      change: number | null;
      share: number | null;
      certain: boolean | null;
      name: string | null;
      slice_a: number | null;
      slice_b: number | null;
      worker_a: string | null;
      worker_b: string | null;
    };
    changes: {
      metric: string | null;
      a: number | null;
      b: number | null;
      change: number | null;
      low: number | null;
      high: number | null;
      detectable: number | null;
      certain: boolean | null;
      unit: string | null;
      judgment: string | null;
    };
    steps: {
      run: string | null;
      trace: string | null;
      worker: string | null;
      steps: number | null;
      median: number | null;
      mean: number | null;
      spread: number | null;
      workers: number | null;
    };
    ranks: {
      rank: number | null;
      worker: string | null;
      a: number | null;
      b: number | null;
      change: number | null;
      own_change: number | null;
      own_low: number | null;
      own_high: number | null;
      device_change: number | null;
      communication_a: number | null;
      communication_b: number | null;
      communication_change: number | null;
    };
    breakdown: {
      category: string | null;
      a: number | null;
      b: number | null;
      change: number | null;
    };
    operators: {
      name: string | null;
      calls_a: number | null;
      calls_b: number | null;
      device_a: number | null;
      device_b: number | null;
      host_a: number | null;
      host_b: number | null;
      change: number | null;
      status: string | null;
    };
    kernels: {
      name: string | null;
      calls_a: number | null;
      calls_b: number | null;
      device_a: number | null;
      device_b: number | null;
      host_a: number | null;
      host_b: number | null;
      change: number | null;
      status: string | null;
    };
    graph_nodes: {
      name_a: string | null;
      name_b: string | null;
      position_a: number | null;
      position_b: number | null;
      call: string | null;
      calls_a: number | null;
      calls_b: number | null;
      a: number | null;
      b: number | null;
      change: number | null;
      status: string | null;
    };
    parity: {
      key: string | null;
      a: string | null;
      b: string | null;
      same: boolean | null;
    };
  };
  hang: {
    hangs: {
      group: string | null;
      description: string | null;
      sequence: number | null;
      name: string | null;
      cause: string | null;
      culprits: string | null;
      waiting: string | null;
      follows: number | null;
    };
    members: {
      group: string | null;
      sequence: number | null;
      rank: number | null;
      state: string | null;
      name: string | null;
      shapes: string | null;
      last_sequence: number | null;
      last_name: string | null;
      called_from: string | null;
    };
  };
  critical: {
    by_kind: {
      kind: string | null;
      time: number | null;
      share: number | null;
      pieces: number | null;
    };
    by_name: {
      kind: string | null;
      name: string | null;
      time: number | null;
      share: number | null;
      pieces: number | null;
      slice: number | null;
      rank: number | null;
    };
    by_rank: {
      rank: number | null;
      time: number | null;
      share: number | null;
      device: number | null;
      communication: number | null;
      host: number | null;
      pieces: number | null;
      ends: number | null;
      worker: string | null;
    };
    legs: {
      step: number | null;
      rank: number | null;
      start: number | null;
      duration: number | null;
      after: string | null;
      kind: string | null;
      name: string | null;
      time: number | null;
      device: number | null;
      communication: number | null;
      host: number | null;
      worker: string | null;
    };
    by_module: {
      module: string | null;
      time: number | null;
      share: number | null;
      pieces: number | null;
      slice: number | null;
      rank: number | null;
    };
    by_line: {
      line: string | null;
      time: number | null;
      share: number | null;
      pieces: number | null;
      slice: number | null;
      rank: number | null;
    };
    slack: {
      kind: string | null;
      name: string | null;
      slack: number | null;
      least: number | null;
      time: number | null;
      off_path: number | null;
      calls: number | null;
      slice: number | null;
    };
    path: {
      step: number | null;
      kind: string | null;
      name: string | null;
      track: number | null;
      start: number | null;
      duration: number | null;
      slice: number | null;
      rank: number | null;
    };
    ranks: {
      worker: string | null;
      rank: number | null;
      group: string | null;
      part: string | null;
      share: number | null;
      late: number | null;
      lost: number | null;
      step_after: number | null;
      decided: number | null;
      steps: number | null;
      stage: number | null;
      host: string | null;
    };
    stages: {
      stage: number | null;
      ranks: number | null;
      own: number | null;
      compute: number | null;
      communication: number | null;
      host: number | null;
      data: number | null;
      waiting: number | null;
    };
  };
  idle: {
    causes: {
      device: number | null;
      cause: string | null;
      time: number | null;
      share: number | null;
      name: string | null;
      count: number | null;
      slice: number | null;
      total: number | null;
    };
    details: {
      cause: string | null;
      what: string | null;
      name: string | null;
      operator: string | null;
      time: number | null;
      share: number | null;
      count: number | null;
      slice: number | null;
    };
    gaps: {
      step: number | null;
      device: number | null;
      start: number | null;
      duration: number | null;
      cause: string | null;
      what: string | null;
      name: string | null;
      before: string | null;
      after: string | null;
      slice: number | null;
    };
    steps: {
      step: number | null;
      device: number | null;
      total: number | null;
      idle: number | null;
      host_late: number | null;
      blocked: number | null;
      dependency: number | null;
      data: number | null;
      communication: number | null;
      profiler: number | null;
      unknown: number | null;
    };
    streams: {
      device: number | null;
      stream: number | null;
      cause: string | null;
      time: number | null;
      share: number | null;
      count: number | null;
      mean: number | null;
      std: number | null;
      min: number | null;
      p25: number | null;
      p50: number | null;
      p75: number | null;
      max: number | null;
    };
    queue: {
      device: number | null;
      stream: number | null;
      count: number | null;
      mean: number | null;
      std: number | null;
      min: number | null;
      p25: number | null;
      p50: number | null;
      p75: number | null;
      max: number | null;
      time_mean: number | null;
      full: number | null;
    };
    launches: {
      name: string | null;
      call: string | null;
      count: number | null;
      call_mean: number | null;
      call_min: number | null;
      call_max: number | null;
      call_total: number | null;
      device_mean: number | null;
      device_total: number | null;
      delay_mean: number | null;
      delay_min: number | null;
      delay_max: number | null;
      delay_total: number | null;
      short: number | null;
      long_calls: number | null;
      long_delays: number | null;
      slice: number | null;
    };
    op_launches: {
      op: string | null;
      kernels: string | null;
      count: number | null;
      op_delay: number | null;
      launch_delay: number | null;
      slice: number | null;
    };
    copies: {
      name: string | null;
      calls: number | null;
      bytes: number | null;
      time: number | null;
      bandwidth: number | null;
      count: number | null;
      mean: number | null;
      std: number | null;
      min: number | null;
      p25: number | null;
      p50: number | null;
      p75: number | null;
      max: number | null;
    };
  };
  whatif: {
    whatif: {
      change: string | null;
      step_before: number | null;
      step_after: number | null;
      saves: number | null;
      share: number | null;
      speedup: number | null;
      least: number | null;
      most: number | null;
      calls: number | null;
      kernels: number | null;
      host_time: number | null;
      device_time: number | null;
    };
    steps: {
      step: number | null;
      recorded: number | null;
      replayed: number | null;
      whatif: number | null;
    };
  };
  check: {
    checks: {
      metric: string | null;
      result: string | null;
      base: number | null;
      candidate: number | null;
      limit: number | null;
      change: number | null;
      low: number | null;
      high: number | null;
      reason: string | null;
      unit: string | null;
      rule: string | null;
      found: string | null;
    };
    causes: {
      id: string | null;
      title: string | null;
      evidence: string | null;
      change: number | null;
      share: number | null;
      certain: boolean | null;
      name: string | null;
    };
    parity: {
      key: string | null;
      a: string | null;
      b: string | null;
      same: boolean | null;
    };
  };
  history: {
    changes: {
      metric: string | null;
      at: number | null;
      commit: string | null;
      commit_before: string | null;
      value_before: number | null;
      value_after: number | null;
      change: number | null;
      low: number | null;
      high: number | null;
      certain: boolean | null;
      worse: boolean | null;
      runs_before: number | null;
      runs_after: number | null;
      unit: string | null;
    };
    points: {
      point: number | null;
      time_unix: string | null;
      commit: string | null;
      name: string | null;
      steps: number | null;
      step: number | null;
      spread: number | null;
      device: number | null;
      host: number | null;
      memory: number | null;
      kernels: number | null;
      mfu: number | null;
    };
    trend: {
      point: number | null;
      metric: string | null;
      relative: number | null;
    };
  };
  top: {
    summary: {
      what: string | null;
      time: number | null;
    };
    device: {
      rank: number | null;
      time: number | null;
      share: number | null;
      cumulative: number | null;
      cumulative_share: number | null;
      name: string | null;
      type: string | null;
      id: number | null;
      count: number | null;
      computation: number | null;
      flops: number | null;
      memory: number | null;
      bandwidth: number | null;
      in_shapes: string | null;
      out_shapes: string | null;
    };
    host: {
      rank: number | null;
      time: number | null;
      share: number | null;
      cumulative: number | null;
      cumulative_share: number | null;
      name: string | null;
      type: string | null;
      id: number | null;
      count: number | null;
      computation: number | null;
      flops: number | null;
      memory: number | null;
      bandwidth: number | null;
      in_shapes: string | null;
      out_shapes: string | null;
    };
  };
}

export interface Parameters {
  info: Record<string, never>;
  operators: {
    "group-by"?: "name" | "name+shape" | "name+stack" | "name+shape+stack" | "type" | "subgraph";
    roofline?: string;
    "peak-tflops"?: string;
    "peak-gbps"?: string;
    evidence?: string;
  };
  kernels: {
    "group-by"?: "name" | "name+op" | "launch";
    module?: string;
    roofline?: string;
    "peak-tflops"?: string;
    "peak-gbps"?: string;
    evidence?: string;
  };
  roofline: {
    "group-by"?: "name" | "name+shape";
    "peak-tflops"?: string;
    "peak-gbps"?: string;
  };
  overview: {
    evidence?: string;
  };
  steps: {
    "fp-point"?: string;
    "bp-point"?: string;
    "end-point"?: string;
  };
  serving: Record<string, never>;
  graphs: {
    other?: string;
    "other-worker"?: string;
    "other-step"?: string;
  };
  requests: Record<string, never>;
  memory: {
    at?: string;
    by?: "op" | "module" | "size";
    points?: number;
    evidence?: string;
  };
  fits: {
    other?: string;
    batch?: number;
    length?: number;
    device?: string;
    allocator?: "auto" | "caching" | "expandable" | "exact";
    "recorded-batch"?: string;
    "recorded-length"?: string;
  };
  modules: {
    "group-by"?: "name" | "type";
    evidence?: string;
  };
  lines: {
    by?: "all" | "line" | "function" | "file" | "stack";
    stack?: string;
  };
  pipeline: {
    high?: string;
    low?: string;
  };
  distributed: {
    arrivals?: number;
    lanes?: number;
    "map-steps"?: number;
  };
  advise: {
    evidence?: string;
  };
  diff: {
    other?: string;
    "other-worker"?: string;
    "other-step"?: string;
    "base-runs"?: string;
  };
  hang: Record<string, never>;
  critical: Record<string, never>;
  idle: Record<string, never>;
  whatif: {
    scale?: string;
    remove?: string;
    "no-launch-cost"?: string;
    "no-sync"?: string;
    "no-data-wait"?: string;
    "no-communication"?: string;
    "overlap-communication"?: string;
    network?: string;
    batch?: string;
    "cuda-graph"?: string;
    unprofiled?: string;
    "no-stragglers"?: string;
    rank?: string;
    "balance-stages"?: string;
    "no-bubbles"?: string;
  };
  check: {
    other?: string;
    "other-worker"?: string;
    "base-runs"?: string;
    "max-regress"?: string;
    require?: string;
  };
  history: {
    "min-change"?: string;
  };
  top: {
    top?: string;
    type?: string;
    "opr-name"?: string;
    "input-dtype"?: string;
    "aggregate-by"?: "none" | "type";
    aggregate?: "none" | "max" | "min" | "sum" | "mean";
    "top-end-key"?: "end" | "kern";
    "order-by"?: string;
    "min-time"?: string;
    "max-time"?: string;
    "copy-time"?: string;
    "show-host"?: string;
    "dump-only-opr"?: string;
    confluence?: string;
    "print-only"?: "all" | "summary" | "device" | "host";
  };
}

export type AnalysisName = keyof Tables;
