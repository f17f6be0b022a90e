/// What has to be reached, in the words of the project's table of speeds.
enum Measure: String, CaseIterable, Codable, Sendable {
  case read = "Get and Read of a focused stored binding"
  case write = "Set and Write of a stored binding, durable"
  case flight = "64 calls in flight"
  case bound = "Get of a bound binding that its owner keeps current"
  case forwarded = "A command or live property forwarded"
  case subscribers = "A focus change, to the last of n subscribers"
  case fields = "The same with n fields registered"
  case scale = "Get and Set with much beside them, to those with nothing"
  case bytes = "A field's own bytes, beside its values"
  case start = "Start to bus name"
  case memory = "Memory after 5,000 calls"
  case growth = "Growth over mixed calls, after the first 10,000"
  case kit = "A focused value read through FocusKit"
  case commandLine = "focusctl get"
  case players = "One command for the player in front"
  case delay = "The longest that others wait, at the limits"
  case costs = "What is refused again and again"
  case limitMemory = "Private memory at the limits"
  case descriptors = "File descriptors that calls take up"
  case windows = "The window bridge"
  case accessibility = "The accessibility bridge, with a form of GTK 3"
  case menus = "The menu bridge, with mousepad"
  case limitStart = "Start to bus name at the limits"
}

/// The most or the least that a figure should be.
enum Limit {
  case atMost(Double)
  case atLeast(Double)

  func holds(_ value: Double) -> Bool {
    switch self {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    }
  }

  var text: String {
    switch self {
    case .atMost(let limit): "≤ \(short(limit))"
    case .atLeast(let limit): "≥ \(short(limit))"
    }
  }
}

/// One figure of a run: what a limit is held against, or what explains such a one.
struct Figure: Codable {
  let measure: Measure
  /// It stays the same from one release to the next.
  let name: String
  let unit: String
  /// With everything on one processor.
  let value: Double
  /// With everything where the system puts it, where that was measured too.
  var free: Double?
  var limit: String?
  var isMet: Bool?
}

/// What was measured of one target in one mode.
struct Detail: Codable {
  let group: String
  let target: String
  let mode: Mode
  let median: Double
  let p99: Double
  /// The median over the rounds of the ratio to the floor of the same round.
  let ratio: Double?
  /// Processor time for each call, in microseconds.
  let service: Double?
  let bus: Double?
}

/// A number with three significant digits, or so.
func short(_ value: Double) -> String {
  guard value.isFinite else { return "-" }
  let size = abs(value)
  let scale: Double = size >= 100 ? 1 : size >= 10 ? 10 : 100
  let rounded = (value * scale).rounded() / scale
  return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
}
