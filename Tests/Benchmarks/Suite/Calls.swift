internal import CBenchmarkClient

/// A call that is made again and again; `bench_call_new` says what the letters of `format` stand for.
struct Call: @unchecked Sendable {
  fileprivate let raw: OpaquePointer

  /// It is never freed: there are few, and they are used to the end.
  init(
    to destination: String = "org.focusd.Focus1", _ path: String, _ interface: String, _ member: String,
    _ format: String = "", _ first: String = "", _ second: String = ""
  ) {
    raw = bench_call_new(destination, path, interface, member, format, first, second)
  }
}

/// Something that is called: who, and what with.
struct Target {
  var name: String
  /// Whose processor time counts.
  let process: Int32
  var calls: [Call]
  /// The index of what it is held against.
  var floor: Int?
  /// The bus that it is on, if that is not the session's.
  var bus: Int32?

  init(_ name: String, _ process: Int32, _ calls: Call..., floor: Int? = nil) {
    self.name = name
    self.process = process
    self.calls = calls
    self.floor = floor
  }
}

/// A connection that calls, as little as that costs.
final class Caller {
  private let raw: OpaquePointer
  /// The number of the next call; no two have the same.
  private var number: Int32 = 1

  /// - Throws: `NotMeasured` if there is no such bus.
  init(_ address: String) throws {
    guard let raw = bench_client_open(address) else { throw NotMeasured(description: "no bus at \(address)") }
    self.raw = raw
  }

  deinit { bench_client_close(raw) }

  var error: String { String(cString: bench_client_error(raw)) }

  private func check(_ calls: [Call], _ refused: Int32, _ expected: Int) throws {
    guard refused == expected else {
      throw NotMeasured(description: refused < 0 ? "the bus has gone" : "a call was refused: \(error)")
    }
  }

  /// The time of each of `count` calls that follow one another, in microseconds.
  /// - Throws: `NotMeasured` if not exactly `refusals` were refused.
  @discardableResult
  func time(_ calls: [Call], _ count: Int, refusals: Int = 0) throws -> [Double] {
    var taken = [Double](repeating: 0, count: count)
    let refused = bench_time(raw, calls.map { $0.raw }, Int32(calls.count), number, Int32(count), &taken)
    number += Int32(count)
    try check(calls, refused, refusals)
    return taken
  }

  /// How many calls a second are answered with `window` of them under way.
  /// - Throws: `NotMeasured` if not exactly `refusals` were refused.
  @discardableResult
  func flood(_ calls: [Call], _ count: Int, window: Int = 64, refusals: Int = 0) throws -> Double {
    var taken = 0.0
    let refused = bench_flood(
      raw, calls.map { $0.raw }, Int32(calls.count), number, Int32(count), Int32(window), &taken)
    number += Int32(count)
    try check(calls, refused, refusals)
    return Double(count) / taken * 1e6
  }

  /// Waits until `call` is not refused any more.
  /// - Throws: `NotMeasured` after ten seconds.
  func wait(for call: Call) throws {
    let start = ContinuousClock.now
    repeat {
      if (try? time([call], 1)) != nil { return }
      pause()
    } while ContinuousClock.now - start < .seconds(10)
    throw NotMeasured(description: "still refused after ten seconds: \(error)")
  }

  /// From the start of a program until it holds `name`, in microseconds; it is ended then.
  /// - Throws: `NotMeasured` if it does not get the name.
  func timeToName(_ name: String, _ arguments: [String], _ environment: [String: String]) throws -> Double {
    var process: Int32 = -1
    let taken = withCStrings(arguments) { arguments in
      withCStrings(environment.map { "\($0.key)=\($0.value)" }) { environment in
        bench_time_to_name(raw, name, arguments, environment, &process)
      }
    }
    guard process > 0 else { throw NotMeasured(description: "\(arguments[0]) does not start") }
    bench_end(raw, name, process)
    guard taken >= 0 else { throw NotMeasured(description: "\(arguments[0]) does not get the name \(name)") }
    return taken
  }
}

/// Connections that each have a match rule for one signal of a change.
final class Subscribers {
  private let raw: OpaquePointer
  private var number: Int32 = 1

  /// - Throws: `NotMeasured` if there is no such bus.
  init(_ address: String, _ rule: String) throws {
    guard let raw = bench_subscribers_open(address, rule) else {
      throw NotMeasured(description: "no bus at \(address)")
    }
    self.raw = raw
  }

  deinit { bench_subscribers_close(raw) }

  /// Makes them `count` at least.
  /// - Throws: `NotMeasured` if the bus or the system gives no more connections.
  func grow(to count: Int) throws {
    guard bench_subscribers_grow(raw, Int32(count)) else {
      throw NotMeasured(description: "no \(count) connections can be had")
    }
  }

  /// Makes a call from the connection that will make those that are timed.
  /// - Throws: `NotMeasured` if it is refused.
  func call(_ call: Call) throws {
    defer { number += 1 }
    guard bench_subscribers_call(raw, call.raw, number) else { throw NotMeasured(description: "a call was refused") }
  }

  /// From each of `count` calls in turn until the last subscriber has its signal, in microseconds.
  /// - Throws: `NotMeasured` if a signal does not come.
  func time(_ calls: [Call], _ count: Int) throws -> [Double] {
    try (0..<count).map { _ in
      let taken = bench_subscribers_time(raw, calls[Int(number) % calls.count].raw, number)
      number += 1
      guard taken >= 0 else { throw NotMeasured(description: "a change did not reach every subscriber") }
      return taken
    }
  }
}
