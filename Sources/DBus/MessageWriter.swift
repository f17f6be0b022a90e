internal import CDBus
public import DBusTypes
internal import Glibc

extension Message {
  /// The most that one message carries, in bytes as marshalled: within it no array can pass the protocol's limit.
  public static let encodingLimit = ProtocolLimits.arraySize

  /// The most file descriptors that one message carries; a bus closes the connection of who sends more.
  public static let unixFDLimit = 16

  /// Appends values to the message, all or none of them.
  /// - Throws: `DBusError`: `Failed` where the message was sent or received already, `InvalidArgs` for a value that no message can carry (NUL in a text, an empty structure, an
  ///   array with elements of another type), `LimitsExceeded` past the protocol's depth or `encodingLimit`.
  public func append(_ arguments: [DBusValue]) throws(DBusError) {
    guard !arguments.isEmpty else { return }
    guard serial == 0 else { throw DBusError(.failed, "values are added to a message before it is sent") }
    for argument in arguments { try MessageWriter.check(argument, as: argument.type) }
    // libdbus writes the length of a signature into one byte, whatever it is.
    let present = dbus_message_get_signature(raw).map { strlen($0) } ?? 0
    let signature = arguments.reduce(present) { $0 + $1.type.signatureLength }
    guard signature <= 255 else {
      throw DBusError(
        .limitsExceeded, "the values' signature takes \(signature) bytes, and a message's takes 255 at most")
    }
    let descriptors = arguments.reduce(unixFDCount) { $0 + $1.unixFDCount }
    guard descriptors <= Message.unixFDLimit else {
      throw DBusError(
        .limitsExceeded,
        "the values hold \(descriptors) file descriptors, and a message carries \(Message.unixFDLimit) at most")
    }
    let size = arguments.reduce(bodySize) { $1.marshalledEnd(from: $0) }
    guard size <= Message.encodingLimit else {
      throw DBusError(
        .limitsExceeded, "the values take \(size) bytes, and a message carries \(Message.encodingLimit) at most")
    }
    var iterator = DBusMessageIter()
    dbus_message_iter_init_append(raw, &iterator)
    for argument in arguments { try MessageWriter.write(argument, &iterator) }
    bodySize = size
    unixFDCount = descriptors
  }
}

/// Encodes values at libdbus's iterators, after checking what libdbus would abort on.
private enum MessageWriter {
  /// Checks that `value` is of `type` throughout and can be marshalled.
  /// - Throws: `DBusError` as `append` does.
  static func check(_ value: DBusValue, as type: DBusType, depth: Int = 0) throws(DBusError) {
    // An array counts also where it is empty: other libraries go by its type.
    guard depth + type.ownDepth <= ProtocolLimits.sendableDepth else {
      throw DBusError(.limitsExceeded, "the value is nested more than \(ProtocolLimits.sendableDepth) deep")
    }
    if depth == 0 || type == .variant { try checkSignature(value, type) }
    switch (value, type) {
    case (.string(let text), .string):
      guard !text.holdsNUL else {
        throw DBusError(.invalidArgs, "a D-Bus string holds no NUL, and one of \(text.utf8.count) bytes does")
      }
    case (.array(let array), .array(let element)):
      guard array.elementType == element else { throw mismatch(value, type) }
      guard array.bytes == nil else { return }
      for item in array { try check(item, as: element, depth: depth + 1) }
    case (.structure(let members), .structure(let types)):
      guard members.count == types.count else { throw mismatch(value, type) }
      for (member, type) in zip(members, types) { try check(member, as: type, depth: depth + 1) }
    case (.dictionary(let dictionary), .dictionary(let keyType, let valueType)):
      guard dictionary.keyType == keyType, dictionary.valueType == valueType else { throw mismatch(value, type) }
      for entry in dictionary.entries {
        try check(entry.key, as: keyType, depth: depth + 2)
        try check(entry.value, as: valueType, depth: depth + 2)
      }
    case (.variant(let inner), .variant):
      try check(inner, as: inner.type, depth: depth + 1)
    default:
      guard value.type == type else { throw mismatch(value, type) }
    }
  }

  private static func checkSignature(_ value: DBusValue, _ type: DBusType) throws(DBusError) {
    let outer = type == .variant ? value.variantContent?.type ?? type : type
    guard !outer.isValid else { return }
    do { _ = try Signature([outer]) } catch { throw DBusError(error) }
  }

  private static func mismatch(_ value: DBusValue, _ type: DBusType) -> DBusError {
    DBusError(.invalidArgs, TypeMismatch(expected: type, actual: value.type).description)
  }

  static func write(_ value: DBusValue, _ iterator: inout DBusMessageIter) throws(DBusError) {
    switch value {
    case .byte(let number): try basic(number, CDBUS_TYPE_BYTE, &iterator)
    case .boolean(let truth): try basic(dbus_bool_t(truth ? 1 : 0), CDBUS_TYPE_BOOLEAN, &iterator)
    case .int16(let number): try basic(number, CDBUS_TYPE_INT16, &iterator)
    case .uint16(let number): try basic(number, CDBUS_TYPE_UINT16, &iterator)
    case .int32(let number): try basic(number, CDBUS_TYPE_INT32, &iterator)
    case .uint32(let number): try basic(number, CDBUS_TYPE_UINT32, &iterator)
    case .int64(let number): try basic(number, CDBUS_TYPE_INT64, &iterator)
    case .uint64(let number): try basic(number, CDBUS_TYPE_UINT64, &iterator)
    case .double(let number): try basic(number, CDBUS_TYPE_DOUBLE, &iterator)
    case .string(let text): try string(text, CDBUS_TYPE_STRING, &iterator)
    case .objectPath(let path): try string(path.text, CDBUS_TYPE_OBJECT_PATH, &iterator)
    case .signature(let signature): try string(signature.text, CDBUS_TYPE_SIGNATURE, &iterator)
    case .unixFD(let descriptor): try basic(descriptor.number, CDBUS_TYPE_UNIX_FD, &iterator)
    case .array(let array): try write(array, &iterator)
    case .structure(let members):
      try container(CDBUS_TYPE_STRUCT, nil, &iterator) { inner throws(DBusError) in
        for member in members { try write(member, &inner) }
      }
    case .dictionary(let dictionary): try write(dictionary, &iterator)
    case .variant(let content):
      try container(CDBUS_TYPE_VARIANT, content.type.description, &iterator) { inner throws(DBusError) in
        try write(content, &inner)
      }
    }
  }

  private static func write(_ array: DBusArray, _ iterator: inout DBusMessageIter) throws(DBusError) {
    try container(CDBUS_TYPE_ARRAY, array.elementType.description, &iterator) { inner throws(DBusError) in
      guard let bytes = array.bytes else {
        for element in array { try write(element, &inner) }
        return
      }
      let done = bytes.withUnsafeBufferPointer { buffer in
        var start = buffer.baseAddress
        guard start != nil else { return dbus_bool_t(1) }
        return dbus_message_iter_append_fixed_array(&inner, CDBUS_TYPE_BYTE, &start, Int32(buffer.count))
      }
      guard done != 0 else { throw .noMemory }
    }
  }

  private static func write(
    _ dictionary: DBusDictionary, _ iterator: inout DBusMessageIter
  ) throws(DBusError) {
    let entrySignature = DBusType.entrySignature(dictionary.keyType, dictionary.valueType)
    try container(CDBUS_TYPE_ARRAY, entrySignature, &iterator) { inner throws(DBusError) in
      for entry in dictionary.entries {
        try container(CDBUS_TYPE_DICT_ENTRY, nil, &inner) { pair throws(DBusError) in
          try write(entry.key, &pair)
          try write(entry.value, &pair)
        }
      }
    }
  }

  private static func basic<T>(
    _ value: T, _ type: Int32, _ iterator: inout DBusMessageIter
  ) throws(DBusError) {
    let done = withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) }
    guard done != 0 else { throw .noMemory }
  }

  private static func string(
    _ text: String, _ type: Int32, _ iterator: inout DBusMessageIter
  ) throws(DBusError) {
    let done = text.withCString { start in
      withUnsafePointer(to: start) { dbus_message_iter_append_basic(&iterator, type, $0) }
    }
    guard done != 0 else { throw .noMemory }
  }

  private static func container(
    _ type: Int32, _ contents: String?, _ iterator: inout DBusMessageIter,
    _ body: (inout DBusMessageIter) throws(DBusError) -> Void
  ) throws(DBusError) {
    var inner = DBusMessageIter()
    let isOpen = withCString(contents) { dbus_message_iter_open_container(&iterator, type, $0, &inner) }
    guard isOpen != 0 else { throw .noMemory }
    do {
      try body(&inner)
    } catch {
      dbus_message_iter_abandon_container(&iterator, &inner)
      throw error
    }
    guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .noMemory }
  }
}

extension DBusValue {
  /// What a variant holds, or nil for a value that is no variant.
  public var variantContent: DBusValue? {
    guard case .variant(let content) = self else { return nil }
    return content
  }
}

extension DBusValue {
  /// How many file descriptors are anywhere within the value.
  fileprivate var unixFDCount: Int {
    guard holdsUnixFD else { return 0 }
    return switch self {
    case .unixFD: 1
    case .array(let array): array.reduce(0) { $0 + $1.unixFDCount }
    case .structure(let members): members.reduce(0) { $0 + $1.unixFDCount }
    case .dictionary(let dictionary):
      dictionary.entries.reduce(0) { $0 + $1.key.unixFDCount + $1.value.unixFDCount }
    case .variant(let content): content.unixFDCount
    default: 0
    }
  }
}

extension DBusType {
  /// How many containers a value of this type is at least.
  fileprivate var ownDepth: Int {
    switch self {
    case .dictionary: 2
    case .array, .structure, .variant: 1
    default: 0
    }
  }
}
