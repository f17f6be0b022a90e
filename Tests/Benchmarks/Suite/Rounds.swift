internal import CBenchmarkClient

/// Several targets in turn, a few calls of each at a time, so that what the machine does meanwhile falls on all alike.
struct Rounds {
  let session: Session
  let mode: Mode
  /// How many rounds there are, and how many calls of each target in one.
  let count: Int
  let batch: Int

  /// What was measured of one target.
  struct Result {
    /// Microseconds of each call, or calls a second of each batch.
    var samples = Samples()
    /// The target's median to its floor's, for each round.
    var ratios = Samples()
    /// Processor time for each call in microseconds: of the service, and of the bus.
    var service = 0.0
    var bus = 0.0
  }

  /// Times calls that follow one another.
  /// - Throws: `NotMeasured` if one is refused.
  func latencies(_ targets: [Target]) throws -> [Result] {
    try run(targets) { try session.caller.time($0.calls, batch) }
  }

  /// Times calls with 64 of them under way.
  /// - Throws: `NotMeasured` if one is refused.
  func rates(_ targets: [Target]) throws -> [Result] {
    try run(targets) { [try session.caller.flood($0.calls, batch)] }
  }

  /// Runs rounds that begin with another target each, after one that does not count; `measure` measures one batch.
  /// - Throws: what `measure` throws.
  func run(_ targets: [Target], _ measure: (Target) throws -> [Double]) throws -> [Result] {
    session.place(mode)
    for target in targets { _ = try measure(target) }
    var results = targets.map { _ in Result() }
    for round in 0..<count {
      var medians = [Double](repeating: .nan, count: targets.count)
      for offset in targets.indices {
        let index = (round + offset) % targets.count
        let target = targets[index]
        let bus = target.bus ?? session.busDaemon
        let before = (bench_processor_time(target.process), bench_processor_time(bus))
        let values = try measure(target)
        results[index].service += bench_processor_time(target.process) - before.0
        results[index].bus += bench_processor_time(bus) - before.1
        results[index].samples.add(values)
        var samples = Samples()
        samples.add(values)
        medians[index] = samples.median
      }
      for (index, target) in targets.enumerated() {
        if let floor = target.floor { results[index].ratios.add(medians[index] / medians[floor]) }
      }
    }
    for index in results.indices {
      results[index].service /= Double(count * batch)
      results[index].bus /= Double(count * batch)
    }
    return results
  }
}
