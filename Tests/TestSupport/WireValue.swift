/// A D-Bus value that is written as bytes and never kept as anything else, so that it may have millions of elements.
package struct WireValue: Sendable {
  package let signature: String
  /// The elements that the contract counts: basic values, structs and empty arrays; a string and a byte array are one.
  package let elements: Int
  fileprivate let write: @Sendable (inout WireBytes) -> Void

  fileprivate init(_ signature: String, _ elements: Int, _ write: @escaping @Sendable (inout WireBytes) -> Void) {
    self.signature = signature
    self.elements = elements
    self.write = write
  }

  /// The bytes that the value takes by itself.
  package var size: Int { WireBytes([self]).count }

  package static func byte(_ number: UInt8) -> WireValue { WireValue("y", 1) { $0.number(number) } }
  package static func int32(_ number: Int32) -> WireValue { WireValue("i", 1) { $0.number(number) } }
  package static func uint32(_ number: UInt32) -> WireValue { WireValue("u", 1) { $0.number(number) } }
  package static func uint64(_ number: UInt64) -> WireValue { WireValue("t", 1) { $0.number(number) } }
  package static func boolean(_ truth: Bool) -> WireValue { WireValue("b", 1) { $0.number(UInt32(truth ? 1 : 0)) } }
  package static func string(_ text: String) -> WireValue { WireValue("s", 1) { $0.string(text) } }
  package static func path(_ text: String) -> WireValue { WireValue("o", 1) { $0.string(text) } }

  /// A string of `size` bytes as marshalled.
  package static func text(_ size: Int) -> WireValue {
    WireValue("s", 1) {
      $0.number(UInt32(size - 5))
      $0.fill(UInt8(ascii: "x"), size - 5)
      $0.fill(0, 1)
    }
  }

  /// A byte array of `size` bytes as marshalled.
  package static func bytes(_ size: Int) -> WireValue {
    WireValue("ay", 1) { $0.array(alignment: 1) { $0.fill(7, size - 4) } }
  }

  package static func variant(_ content: WireValue) -> WireValue {
    WireValue("v", content.elements) {
      $0.signature(content.signature)
      content.write(&$0)
    }
  }

  /// `depth` nested variants, the innermost with `content`.
  package static func variants(_ depth: Int, around content: WireValue = .byte(1)) -> WireValue {
    (0..<depth).reduce(content) { value, _ in .variant(value) }
  }

  package static func structure(_ members: [WireValue]) -> WireValue {
    let signature = "(" + members.map(\.signature).joined() + ")"
    return WireValue(signature, members.reduce(1) { $0 + $1.elements }) { bytes in
      bytes.align(8)
      for member in members { member.write(&bytes) }
    }
  }

  /// An array of the same element again and again.
  package static func array(_ count: Int, of element: WireValue) -> WireValue {
    WireValue("a" + element.signature, element.signature == "y" ? 1 : max(1, count * element.elements)) {
      $0.array(alignment: alignment(element.signature)) { $0.again(count, element.write) }
    }
  }

  /// An array of elements of one signature.
  package static func array(of signature: String, _ elements: [WireValue]) -> WireValue {
    WireValue("a" + signature, max(1, elements.reduce(0) { $0 + $1.elements })) {
      $0.array(alignment: alignment(signature)) { bytes in for element in elements { element.write(&bytes) } }
    }
  }

  /// A dictionary of `keys` and `values`, which are signatures.
  package static func dictionary(
    _ keys: String, _ values: String, _ entries: [(key: WireValue, value: WireValue)]
  ) -> WireValue {
    let elements = entries.reduce(0) { $0 + $1.key.elements + $1.value.elements }
    return WireValue("a{" + keys + values + "}", max(1, elements)) {
      $0.array(alignment: 8) { bytes in
        for entry in entries {
          bytes.align(8)
          entry.key.write(&bytes)
          entry.value.write(&bytes)
        }
      }
    }
  }

  /// A dictionary with the same entry again and again, which only who counts or refuses it takes.
  package static func dictionary(_ count: Int, of key: WireValue, _ value: WireValue) -> WireValue {
    let elements = max(1, count * (key.elements + value.elements))
    return WireValue("a{" + key.signature + value.signature + "}", elements) {
      $0.array(alignment: 8) {
        $0.again(count) {
          $0.align(8)
          key.write(&$0)
          value.write(&$0)
        }
      }
    }
  }

  /// Values by their names, each in a variant.
  package static func properties(_ values: [(name: String, value: WireValue)] = []) -> WireValue {
    .dictionary("s", "v", values.map { (.string($0.name), .variant($0.value)) })
  }

  /// The alignment of the first type in `signature`.
  private static func alignment(_ signature: String) -> Int {
    switch signature.first {
    case "y", "g", "v": 1
    case "n", "q": 2
    case "x", "t", "d", "(", "{": 8
    default: 4
    }
  }
}

extension WireBytes {
  /// Values one after another, as in a message's body.
  package init(_ values: [WireValue]) {
    self.init()
    for value in values { append(value) }
  }

  mutating func append(_ value: WireValue) { value.write(&self) }
}

extension [WireValue] {
  package var signature: String { map(\.signature).joined() }
  /// The elements of a call with these arguments.
  package var elements: Int { reduce(0) { $0 + $1.elements } }
}
