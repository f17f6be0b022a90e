/// A message of the Wayland protocol: of which object, which of its interface's events or requests, and the arguments.
package struct WaylandMessage: Equatable {
  package static let headerLength = 8

  package let object: UInt32
  package let opcode: Int
  package let body: [UInt8]

  /// The bytes of a request; a request is far shorter than the longest message.
  package static func bytes(_ object: UInt32, _ opcode: Int, _ arguments: [WaylandArgument]) -> [UInt8] {
    var body: [UInt8] = []
    for argument in arguments { argument.append(to: &body) }
    var bytes: [UInt8] = []
    for number in [object, UInt32(truncatingIfNeeded: (headerLength + body.count) << 16 | opcode)] {
      withUnsafeBytes(of: number) { bytes += $0 }
    }
    return bytes + body
  }
}

/// An argument of a message.
package enum WaylandArgument: Equatable {
  /// A number, or an object.
  case number(UInt32)
  /// A string without its end.
  case text([UInt8])
  case list([UInt32])

  /// A string.
  package static func string(_ text: String) -> Self { .text(Array(text.utf8)) }

  fileprivate func append(to body: inout [UInt8]) {
    func append(_ number: Int) { withUnsafeBytes(of: UInt32(truncatingIfNeeded: number)) { body += $0 } }
    switch self {
    case .number(let number): append(Int(number))
    case .text(let text):
      append(text.count + 1)
      // A zero ends it, and up to three more fill the last four bytes.
      body += text + [UInt8](repeating: 0, count: 4 - text.count % 4)
    case .list(let numbers):
      append(numbers.count * 4)
      for number in numbers { append(Int(number)) }
    }
  }
}

/// The arguments of an event, as its signature says; what another event would have is nothing.
package struct WaylandArguments {
  private var values: [WaylandArgument] = []

  /// Reads the arguments of an event.
  ///
  /// A signature has for each argument `u`, a number or an object, `s`, a string, or `a`, an array of numbers.
  /// - Throws: `FramingError` if they are not as the signature says.
  package init(_ body: [UInt8], _ signature: String) throws(FramingError) {
    var rest = body[...]
    for type in signature {
      let number = try Self.number(&rest)
      switch type {
      case "s": values.append(.text(try Self.text(&rest, length: number)))
      case "a":
        let bytes = try Self.bytes(&rest, length: number)
        values.append(
          .list((0..<bytes.count / 4).map { Self.number(bytes[(bytes.startIndex + $0 * 4)...]) }))
      default: values.append(.number(number))
      }
    }
  }

  /// The number in the first four of at least as many bytes.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(4).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) throws(FramingError) -> UInt32 {
    guard rest.count >= 4 else { throw FramingError(description: "a message that is too short") }
    defer { rest = rest.dropFirst(4) }
    return number(rest)
  }

  private static func bytes(
    _ rest: inout ArraySlice<UInt8>, length: UInt32
  ) throws(FramingError) -> ArraySlice<UInt8> {
    guard length <= rest.count else { throw FramingError(description: "an argument that is longer than its message") }
    let bytes = rest.prefix(Int(length))
    rest = rest.dropFirst((Int(length) + 3) & ~3)
    return bytes
  }

  private static func text(_ rest: inout ArraySlice<UInt8>, length: UInt32) throws(FramingError) -> [UInt8] {
    let bytes = try bytes(&rest, length: length)
    guard bytes.last ?? 0 == 0 else { throw FramingError(description: "a string without an end") }
    return Array(bytes.dropLast())
  }

  package func number(_ index: Int) -> UInt32 {
    guard values.indices.contains(index), case .number(let number) = values[index] else { return 0 }
    return number
  }

  package func list(_ index: Int) -> [UInt32] {
    guard values.indices.contains(index), case .list(let numbers) = values[index] else { return [] }
    return numbers
  }

  /// The beginning of a string.
  package func text(_ index: Int, limit: Int = WindowText.nameLength) -> String {
    guard values.indices.contains(index), case .text(let bytes) = values[index] else { return "" }
    return WindowText.text(bytes, limit: limit)
  }
}
