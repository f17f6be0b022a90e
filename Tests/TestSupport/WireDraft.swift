/// A message as bytes that is not sent yet, whatever is in it.
package struct WireDraft: Sendable {
  private let start: WireBytes
  package let body: WireBytes

  private init(_ kind: WireMessage.Kind, _ fields: [(code: UInt8, value: WireValue)], _ values: [WireValue]) {
    body = WireBytes(values)
    var start = WireBytes()
    for byte in [UInt8(ascii: "l"), kind.rawValue, 0, 1] { start.number(byte) }
    start.number(UInt32(body.count))
    start.number(UInt32(0))
    start.array(alignment: 8) { bytes in
      for field in fields { bytes.field(field.code, field.value.signature) { $0.append(field.value) } }
      bytes.field(8, "g") { $0.signature(values.signature) }
    }
    start.align(8)
    self.start = start
  }

  /// A method call.
  package static func call(
    to destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = []
  ) -> WireDraft {
    WireDraft(
      .methodCall, [(1, .path(path)), (2, .string(interface)), (3, .string(member)), (6, .string(destination))],
      arguments)
  }

  /// The reply to a method call.
  package static func reply(to call: WireMessage, _ results: [WireValue] = []) -> WireDraft {
    WireDraft(.methodReturn, [(5, .uint32(call.serial)), (6, .string(call.sender))], results)
  }

  /// A signal for everyone who has a match for it.
  package static func signal(
    _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue]
  ) -> WireDraft {
    WireDraft(.signal, [(1, .path(path)), (2, .string(interface)), (3, .string(member))], arguments)
  }

  /// The message's bytes before `body`, with the number that it is sent under.
  func header(_ serial: UInt32) -> [UInt8] {
    var bytes = start.bytes
    withUnsafeBytes(of: serial.littleEndian) { bytes.replaceSubrange(8..<12, with: $0) }
    return bytes
  }

  /// The whole message, with the number that it is sent under.
  package func bytes(_ serial: UInt32) -> [UInt8] { header(serial) + body.bytes }
}

extension WireBytes {
  fileprivate mutating func field(_ code: UInt8, _ signature: String, _ write: (inout WireBytes) -> Void) {
    align(8)
    number(code)
    self.signature(signature)
    write(&self)
  }
}

/// An object of a connection's own, which may stand behind a field.
package struct WireObject: Sendable {
  package let path: String
  package let interface: String
  /// The properties, which anyone may write, by their names.
  package var values: [(name: String, value: WireValue)]
  /// The methods, which take anything; calls of `silent` ones are never answered.
  package var methods: [String] = []
  package var silent: [String] = []

  package init(_ path: String, _ interface: String, _ values: [(name: String, value: WireValue)] = []) {
    self.path = path
    self.interface = interface
    self.values = values
  }

  private var introspection: String {
    let properties = values.map { #"<property name="\#($0.name)" type="\#($0.value.signature)" access="readwrite"/>"# }
    let methods = (methods + silent).map { #"<method name="\#($0)"/>"# }
    return "<node><interface name=\"\(interface)\">\((properties + methods).joined())</interface></node>"
  }

  /// The answer to a call, or nil if there is none.
  package func answer(to call: WireMessage) -> WireDraft? {
    guard call.kind == .methodCall, !silent.contains(call.member) else { return nil }
    return switch call.member {
    case "Introspect": .reply(to: call, [.string(introspection)])
    case "GetAll": .reply(to: call, [.properties(call.text == interface ? values : [])])
    case _ where methods.contains(call.member): .reply(to: call, [.uint32(UInt32(call.body.count))])
    default: .reply(to: call)
    }
  }

  /// What tells of `values` as changed.
  package func change(_ values: [(name: String, value: WireValue)]) -> WireDraft {
    .signal(
      path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
      [.string(interface), .properties(values), .array(of: "s", [])])
  }
}
