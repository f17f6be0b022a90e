internal import TestSupport

/// Something as large as the contract allows, or larger, that one client does while another reads.
struct Load {
  let name: String
  /// Whether the daemon refuses it, or may.
  var isRefused = false
  /// Makes what must be there, once; it is not measured.
  var prepare: (Stage) throws -> Void = { _ in }
  /// Does it for the nth time, and returns once it is over.
  let run: (Stage, Int) throws -> Void
  /// Undoes it, so that it can be done again; it is not measured.
  var undo: (Stage) throws -> Void = { _ in }
  /// What carries the same bytes through the bus to the C echo and back; nil if little goes over the bus.
  var echoed: WireDraft?
}

/// The client that does it, and the others that it needs.
final class Stage {
  let address: String
  private let client: WireConnection
  /// They leave the bus when they go from here.
  var others: [WireConnection] = []

  /// - Throws: `WireError`.
  init(_ address: String) throws {
    self.address = address
    client = try WireConnection(address: address)
  }

  /// - Throws: as `WireConnection.call` does.
  func call(_ draft: WireDraft, object: WireObject? = nil, mayFail: Bool = false) throws {
    try client.call(draft, object: object, mayFail: mayFail)
  }

  /// Makes all calls, several at a time.
  /// - Throws: as `WireConnection.calls` does.
  func calls(_ drafts: [WireDraft]) throws { try client.calls(drafts) }

  /// Sends a message, and waits for nothing.
  /// - Throws: `WireError`.
  func send(_ draft: WireDraft) throws { try client.send(draft) }

  /// Has another client register `count` fields of one number.
  /// - Throws: as `call` does.
  func addOwner(_ count: Int, _ prefix: String, _ options: Wire.Values = []) throws {
    let owner = try WireConnection(address: address)
    for number in 0..<count {
      try owner.call(Wire.register("\(prefix)\(number)", [("demo.Many.Number", .int32(1))], options))
    }
    others.append(owner)
  }
}

/// The calls of the contract, as bytes.
enum Wire {
  typealias Values = [(name: String, value: WireValue)]

  static let focus: Values = [("focus", .boolean(true))]

  static func register(_ id: String, _ values: Values = [], _ options: Values = []) -> WireDraft {
    manager("Register", [.string(id), .properties(values), .properties(options)])
  }

  static func manager(_ member: String, _ arguments: [WireValue]) -> WireDraft {
    .call(to: "org.focusd.Focus1", "/org/focusd/Focus1", "org.focusd.Focus1.Manager", member, arguments)
  }

  static func field(_ id: String, _ member: String, _ arguments: [WireValue] = []) -> WireDraft {
    .call(
      to: "org.focusd.Focus1", "/org/focusd/Focus1/field/" + id, "org.focusd.Focus1.Field", member, arguments)
  }

  static func bindings(_ member: String, _ arguments: [WireValue] = [], at path: String = "focused") -> WireDraft {
    .call(to: "org.focusd.Focus1", "/org/focusd/Focus1/" + path, Call.bindings, member, arguments)
  }

  static func publish(_ values: Values, on id: String) -> WireDraft {
    field(id, "Publish", [.properties(values), .properties()])
  }

  static func write(_ key: String, _ value: WireValue) -> WireDraft {
    bindings("Write", [.string(key), .variant(value), .properties()])
  }

  static func get(from destination: String = "org.focusd.Focus1") -> WireDraft {
    .call(
      to: destination, "/org/focusd/Focus1/field/small", Call.properties, "Get",
      [.string("demo.Form"), .string("Number")])
  }

  /// Has the C echo send values on as so many signals as the daemon does.
  static func carry(_ count: Int, _ values: WireValue) -> WireDraft { echo("Carry\(count)", [values]) }

  /// A call of the C echo.
  static func echo(_ member: String, _ arguments: [WireValue]) -> WireDraft {
    .call(to: "bench.Echo", "/bench", "bench.Echo", member, arguments)
  }

  /// Has the C echo reply what the daemon has replied to a call without arguments.
  static func echoRepeats(_ path: String, _ interface: String, _ member: String) -> WireDraft {
    echo("Repeat", [.path(path), .string(interface), .string(member)])
  }
}

/// Elements that arrays of a value at its limits have.
struct Shape {
  let name: String
  let element: WireValue

  static let all = [
    Shape(name: "av of y", element: .variant(.byte(1))),
    Shape(name: "as of empty strings", element: .string("")),
    Shape(name: "a(yv)", element: .structure([.byte(1), .variant(.byte(2))])),
  ]

  /// An array with `elements`, or as few less as it takes.
  func array(_ elements: Int) -> WireValue { .array(elements / element.elements, of: element) }

  /// Values that make a call of 4 MiB and 131,072 elements, the call's own included, in `interface`.
  func values(_ interface: String = "demo.Big") -> Wire.Values {
    let elements = [array(65_536), array(65_500)]
    let rest = (4 << 20) - 4096 - elements.reduce(0) { $0 + $1.size }
    return (elements + [WireValue](repeating: .text(rest / 4), count: 4)).enumerated()
      .map { ("\(interface).K\($0)", $1) }
  }
}

extension WireValue {
  /// 65,536 elements in 1 MiB, less a few of both: four of them and twelve texts are what one owner may have.
  static func full(_ text: String = "eleven char") -> WireValue { .array(65_533, of: .string(text)) }
}

extension Wire {
  /// The calls that register an owner of 16 MiB and 262,144 elements, one value for each field.
  static func owner(_ prefix: String, fields: Int = 16, _ options: Values = []) -> [WireDraft] {
    (0..<fields).map { number in
      let value: [WireValue] = number < 4 ? [.full()] : number < 16 ? [.text((1 << 20) - 64)] : []
      return register("\(prefix)\(number)", value.map { ("demo.Full.K\(number)", $0) }, options)
    }
  }
}
