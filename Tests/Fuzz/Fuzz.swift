internal import CLibFuzzer
internal import DBus
internal import DBusTypes

/// Feeds bytes to libdbus as if they had arrived, and what it makes of them to the decoder, the encoder and the pointers.
///
/// The bytes begin with a message; what follows it is the text of a pointer. Every rule that does not hold ends the
/// process, as a crash does.
@main
struct Fuzz {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments, testOneInput)
  }

  fileprivate static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    let size = Message.size(of: bytes)
    let pointer = pointer(UnsafeBufferPointer(rebasing: bytes[(size ?? 0)...]))
    guard let size else { return }
    let values: [DBusValue]
    do {
      values = try Message(demarshalling: UnsafeBufferPointer(rebasing: bytes[..<size])).arguments()
    } catch {
      return
    }
    reencode(values)
    for value in values {
      read(value)
      if let pointer { follow(pointer, into: value) }
    }
  }

  /// The pointer that `bytes` spell, whose text must read back as it is.
  private static func pointer(_ bytes: UnsafeBufferPointer<UInt8>) -> Pointer? {
    guard let text = String(validating: bytes, as: UTF8.self), let pointer = try? Pointer(text) else { return nil }
    precondition(pointer.description.utf8.elementsEqual(text.utf8), "a pointer's text is another than it was read from")
    return pointer
  }

  private static func reencode(_ values: [DBusValue]) {
    do {
      let message = try OutgoingMessage.signal(
        path: .root, interface: InterfaceName("fuzz.Fuzz"), member: MemberName("Fuzz"), values)
      let again = try message.marshalled()
      let body = again.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
      precondition(
        Int(body) == message.bodySize, "the values take \(body) bytes, and \(message.bodySize) were foreseen")
      let decoded = try again.withUnsafeBufferPointer { try Message(demarshalling: $0).arguments() }
      precondition(decoded == values, "the values are others after encoding")
      precondition(decoded.hashValue == values.hashValue, "equal values have different hashes")
    } catch {
      preconditionFailure("what was decoded cannot be encoded: \(error)")
    }
  }

  /// Measures the value, and takes each basic value within through its text.
  private static func read(_ value: DBusValue) {
    precondition(MarshalledValue(value).size >= 1)
    precondition(!value.holdsUnixFD, "a message without file descriptors holds one")
    if let text = value.basicText {
      let again = try? DBusValue(text: text, of: value.type)
      if case .double(let number) = value, number.isNaN { return }
      precondition(again == value, "'\(text)' reads as another value")
    }
  }

  private static func follow(_ pointer: Pointer, into value: DBusValue) {
    let replacement = DBusValue.string("replacement")
    for new in [replacement, .variant(replacement)] {
      guard let written = try? value.replacingElement(at: pointer, with: new) else { continue }
      precondition(written.type == value.type, "a write has changed the value's type")
      if pointer.tokens.last != "-" {
        let element = try? written.element(at: pointer)
        precondition(element?.lookedThrough == replacement, "what was written is not there")
      }
    }
    guard let element = try? value.element(at: pointer) else { return }
    let same = try? value.replacingElement(at: pointer, with: element)
    precondition(same == value, "writing what is there changes the value")
  }
}

/// One input; libFuzzer's archive asks for this name, also where the program has a main of its own.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  Fuzz.run(UnsafeBufferPointer(start: start, count: count))
  return 0
}
