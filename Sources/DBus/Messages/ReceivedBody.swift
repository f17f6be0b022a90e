internal import CDBus
public import DBusTypes

/// The values of a received message.
extension Message {
  /// Calls `body` with the bytes of the values, in the byte order of this machine, as libdbus has checked them on arrival.
  ///
  /// `dbus_message_marshal` copies the message once.
  /// - Throws: `DBusError` if libdbus finds no memory, or what `body` throws.
  public func withBody<Result>(
    _ body: (UnsafeRawBufferPointer) throws(DBusError) -> Result
  ) throws(DBusError) -> Result {
    if dbus_message_get_signature(raw).map({ $0.pointee == 0 }) ?? true {
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return try withBytes { (bytes, headerEnd) throws(DBusError) in
      let bodyStart = min(headerEnd.aligned(to: 8), bytes.count)
      return try body(UnsafeRawBufferPointer(rebasing: bytes[bodyStart...]))
    }
  }

  /// Calls `body` with all bytes, in the byte order of this machine, and where the header ends: the specification's section
  /// "Message Format".
  private func withBytes<Result>(
    _ body: (_ bytes: UnsafeRawBufferPointer, _ headerEnd: Int) throws(DBusError) -> Result
  ) throws(DBusError) -> Result {
    // An iterator has libdbus swap the bytes of a message from a machine of the other byte order.
    var iterator = DBusMessageIter()
    dbus_message_iter_init(raw, &iterator)
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard dbus_message_marshal(raw, &start, &count) != 0, let start else { throw .noMemory }
    defer { dbus_free(start) }
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(count))
    let fieldsSize = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    return try body(bytes, min(16 + fieldsSize, bytes.count))
  }

  /// The message's values, decoded: one for each complete type of the signature.
  /// - Throws: `DBusError`: `LimitsExceeded` if they hold more than `elementLimit` elements.
  public func arguments(elementLimit: Int = .max) throws(DBusError) -> [DBusValue] {
    let signature = signatureText
    guard !signature.isEmpty else { return [] }
    return try withBody { bytes throws(DBusError) in
      do throws(WireError) {
        return try DBusValue.decode(signature, bytes, descriptors: descriptors, elementLimit: elementLimit)
      } catch {
        throw DBusError(error)
      }
    }
  }

  /// The descriptors that came with the message, in the order in which its values name them; not many more than a message
  /// carries.
  package var descriptors: [UnixFD?] {
    guard dbus_message_contains_unix_fds(raw) != 0 else { return [] }
    var iterator = DBusMessageIter()
    guard dbus_message_iter_init(raw, &iterator) != 0 else { return [] }
    var found: [UnixFD?] = []
    Message.collect(&iterator, &found)
    return found
  }

  /// How many descriptors came with the message, named by its values or not.
  package var descriptorCount: Int {
    guard dbus_message_contains_unix_fds(raw) != 0 else { return 0 }
    let header = try? withBytes { bytes, headerEnd in
      let header = UnsafeRawBufferPointer(rebasing: bytes[..<headerEnd])
      return try? DBusValue.decode("yyyyuua(yv)", header, descriptors: [], elementLimit: .max)
    }
    guard case .array(let fields)? = header?.last else { return MessageBody.unixFDLimit }
    for case .structure(let field) in fields where field.first == .byte(MessageHeader.Field.unixFDs.rawValue) {
      if case .variant(.uint32(let number))? = field.last { return Int(number) }
    }
    return 0
  }

  private static func collect(_ iterator: inout DBusMessageIter, _ found: inout [UnixFD?]) {
    repeat {
      switch dbus_message_iter_get_arg_type(&iterator) {
      case CDBUS_TYPE_UNIX_FD:
        var number: Int32 = -1
        dbus_message_iter_get_basic(&iterator, &number)
        found.append(number >= 0 ? UnixFD(owning: number) : nil)
      case CDBUS_TYPE_ARRAY:
        let element = dbus_message_iter_get_element_type(&iterator)
        guard element == CDBUS_TYPE_UNIX_FD || dbus_type_is_container(element) != 0 else { break }
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        collect(&inner, &found)
      case CDBUS_TYPE_STRUCT, CDBUS_TYPE_DICT_ENTRY, CDBUS_TYPE_VARIANT:
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        collect(&inner, &found)
      default: break
      }
      // One descriptor may be named any number of times, each of which makes another.
    } while found.count <= MessageBody.unixFDLimit && dbus_message_iter_next(&iterator) != 0
  }
}

extension DBusError {
  /// The error for bytes that are not what they should be, or too many values.
  init(_ error: WireError) {
    switch error {
    case .tooManyElements(let limit):
      self.init(.limitsExceeded, "the message has more than \(limit) elements, the maximum")
    case .tooDeep: self.init(.limitsExceeded, "\(error)")
    case .malformed, .missingDescriptor: self.init(.invalidArgs, "\(error)")
    }
  }
}
