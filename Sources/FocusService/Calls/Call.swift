internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// One method call on one of the daemon's objects, its arguments checked against the method's signature and the limits.
struct Call {
  /// Who calls, as the bus vouches for it.
  let client: BusName
  /// The object that is called.
  let target: Target
  /// What the call carries, of the types that the method's table entry names.
  let arguments: [CallArgument]
  /// The file descriptors that came with it, in the order in which the arguments name them.
  let descriptors: [UnixFD?]
  /// Where the answer goes that is not there yet when the method's handler returns.
  let reply: PendingReply

  /// The argument at `index`, a text.
  /// - Throws: `DBusError` if the method's table entry has no text there.
  func string(_ index: Int) throws(DBusError) -> String {
    guard index < arguments.count, case .text(let text) = arguments[index] else { throw Call.tableError }
    return text
  }

  /// What the variant at `index` holds.
  /// - Throws: `DBusError` if the method's table entry has no variant there.
  func variant(_ index: Int) throws(DBusError) -> MarshalledValue {
    guard index < arguments.count, case .variants(let values) = arguments[index], let value = values.first else {
      throw Call.tableError
    }
    return value
  }

  /// What the variants of the array at `index` hold, the arguments of a call.
  /// - Throws: `DBusError.invalidArgs` if there are more than any call takes.
  func variants(_ index: Int) throws(DBusError) -> [MarshalledValue] {
    guard index < arguments.count else { throw Call.tableError }
    switch arguments[index] {
    case .variants(let values): return values
    case .tooLong: throw DBusError(.invalidArgs, "a command takes at most \(CallArgument.entryLimit) arguments")
    default: throw Call.tableError
    }
  }

  /// The strings of the array at `index`.
  /// - Throws: `DBusError` if the method's table entry has no such array there.
  func strings(_ index: Int) throws(DBusError) -> [String] {
    guard index < arguments.count, case .texts(let texts) = arguments[index] else { throw Call.tableError }
    return texts
  }

  /// The names and values of the dictionary from text to variants at `index`.
  /// - Throws: `DBusError`: `invalidArgs` if it has a name twice, `limitsExceeded` if it has more than a field has keys.
  func dictionary(_ index: Int) throws(DBusError) -> [String: MarshalledValue] {
    guard index < arguments.count else { throw Call.tableError }
    switch arguments[index] {
    case .values(let entries): return try Call.unique(entries)
    case .tooLong:
      throw DBusError(
        .limitsExceeded, "more than \(CallArgument.entryLimit) names are given, but a field has no more keys")
    default: throw Call.tableError
    }
  }

  /// The names and states of the dictionary from text to booleans at `index`.
  /// - Throws: `DBusError.invalidArgs` if it has a name twice.
  func states(_ index: Int) throws(DBusError) -> [String: Bool] {
    guard index < arguments.count, case .states(let entries) = arguments[index] else { throw Call.tableError }
    return try Call.unique(entries)
  }

  private static func unique<Value>(_ entries: [(name: String, value: Value)]) throws(DBusError) -> [String: Value] {
    var values: [String: Value] = [:]
    for (name, value) in entries {
      guard values.updateValue(value, forKey: name) == nil else {
        throw DBusError(.invalidArgs, "'\(name.excerpt)' is given twice")
      }
    }
    return values
  }

  /// The bindings that the called object shows.
  /// - Throws: `DBusError` if the object shows none; then its table has no such method.
  func place() throws(DBusError) -> Place {
    guard let place = target.place else { throw Call.tableError }
    return place
  }

  /// The field that is called.
  /// - Throws: `DBusError` if the object is no field; then its table has no such method.
  func field() throws(DBusError) -> FieldID {
    guard case .field(let id) = target else { throw Call.tableError }
    return id
  }

  private static let tableError = DBusError(.failed, "the method's table entry does not fit its handler")
}

/// One argument of a call, decoded as far as the daemon looks into it.
enum CallArgument {
  case text(String)
  case texts([String])
  /// What a variant holds, or each variant of an array.
  case variants([MarshalledValue])
  case values([(name: String, value: MarshalledValue)])
  case states([(name: String, value: Bool)])
  /// More variants than the limit, of which none is decoded.
  case tooLong

  /// The most variants of one array or dictionary: as many as a field may have keys, and more than a call has arguments.
  static let entryLimit = Limits.keysPerField

  /// Reads the next argument, of `type`.
  /// - Throws: `WireError` if the bytes are not of the method's types.
  init(_ type: DBusType, _ reader: inout BodyReader) throws(WireError) {
    let limit = CallArgument.entryLimit
    switch type {
    case .string: self = .text(try reader.text())
    case .variant: self = .variants([try reader.variant()])
    case .array(.string):
      var texts: [String] = []
      try reader.array { element throws(WireError) in texts.append(try element.text()) }
      self = .texts(texts)
    case .array(.variant):
      var values: [MarshalledValue] = []
      let isWhole = try reader.array(limit: limit) { element throws(WireError) in values.append(try element.variant()) }
      self = isWhole ? .variants(values) : .tooLong
    case .dictionary(key: .string, value: .variant):
      var values: [(name: String, value: MarshalledValue)] = []
      let isWhole = try reader.array(ofEntries: true, limit: limit) { entry throws(WireError) in
        values.append((try entry.text(), try entry.variant()))
      }
      self = isWhole ? .values(values) : .tooLong
    case .dictionary(key: .string, value: .boolean):
      var states: [(name: String, value: Bool)] = []
      try reader.array(ofEntries: true) { entry throws(WireError) in
        states.append((try entry.text(), try entry.boolean()))
      }
      self = .states(states)
    default: throw .malformed("no method takes an argument of type '\(type)'")
    }
  }
}

extension Message {
  /// Checks that the values are within what a call may carry.
  /// - Throws: `DBusError.limitsExceeded`.
  func checkLimits(_ bytes: UnsafeRawBufferPointer) throws(DBusError) {
    let limit = Limits.arguments
    guard bytes.count <= limit.bytes else {
      throw DBusError(
        .limitsExceeded, "the arguments take \(bytes.count) bytes, but a call's may take at most \(limit.bytes)")
    }
    guard WireWalker.mayHold(bytes, more: limit.elements) else { return }
    do throws(WireError) {
      try WireWalker.check(bytes, signatureText, elementLimit: limit.elements)
    } catch {
      throw DBusError(
        .limitsExceeded, "the arguments have more than \(limit.elements) elements, the maximum of a call")
    }
  }
}

extension Message {
  /// The decoded values of an owner's answer, which is past no limit of a call.
  /// - Throws: `DBusError.limitsExceeded`.
  func limitedArguments() throws(DBusError) -> [DBusValue] {
    try withBody { bytes throws(DBusError) in try checkLimits(bytes) }
    return try arguments()
  }
}

/// The options of a method, taken one by one; what is left over is not known.
struct CallOptions {
  private var left: [String: MarshalledValue]
  private var known: [String] = []

  init(_ values: [String: MarshalledValue]) { left = values }

  /// Takes the option `name`, or nil if it is not given.
  /// - Throws: `DBusError.invalidArgs` if it is not of `type`.
  mutating func take(_ name: String, _ type: DBusType) throws(DBusError) -> MarshalledValue? {
    known.append(name)
    guard let value = left.removeValue(forKey: name) else { return nil }
    guard value.type == type else {
      throw DBusError(.invalidArgs, "the option '\(name)' is of type '\(type)', not '\(value.type)'")
    }
    return value
  }

  mutating func boolean(_ name: String) throws(DBusError) -> Bool {
    guard case .boolean(let value)? = try take(name, .boolean)?.value else { return false }
    return value
  }

  mutating func number(_ name: String) throws(DBusError) -> UInt64? {
    guard case .uint64(let value)? = try take(name, .uint64)?.value else { return nil }
    return value
  }

  mutating func processID(_ name: String) throws(DBusError) -> UInt32? {
    guard case .uint32(let value)? = try take(name, .uint32)?.value else { return nil }
    return value
  }

  mutating func string(_ name: String) throws(DBusError) -> String? {
    guard case .string(let value)? = try take(name, .string)?.value else { return nil }
    return value
  }

  mutating func path(_ name: String) throws(DBusError) -> ObjectPath? {
    guard case .objectPath(let path)? = try take(name, .objectPath)?.value else { return nil }
    return path
  }

  mutating func strings(_ name: String) throws(DBusError) -> [String]? {
    try take(name, .array(.string))?.strings
  }

  /// Takes the option `name`, names with a signature each.
  mutating func signatures(_ name: String) throws(DBusError) -> [(name: String, signature: String)]? {
    guard case .dictionary(let dictionary)? = try take(name, .dictionary(key: .string, value: .string))?.value else {
      return nil
    }
    return dictionary.entries.compactMap { entry in
      guard case .string(let name) = entry.key, case .string(let signature) = entry.value else { return nil }
      return (name, signature)
    }
  }

  /// Takes the option `name`, a key and a value.
  /// - Throws: `DBusError.invalidArgs`; `SyntaxError` for an invalid key.
  mutating func condition(_ name: String) throws -> Activity.Condition? {
    guard let given = try take(name, .structure([.string, .variant])) else { return nil }
    guard case .structure(let members) = given.value, case .string(let key)? = members.first,
      case .variant(let value)? = members.last
    else { throw DBusError(.invalidArgs, "the option '\(name)' cannot hold a file descriptor") }
    return .init(key: try Key(key), value: MarshalledValue(value).lookedThrough)
  }

  /// Takes the option `name`, the path of a field.
  /// - Throws: `ModelError.noSuchField` if it is no field's path, `DBusError.invalidArgs` if it is no path.
  mutating func field(_ name: String) throws -> FieldID? {
    guard let path = try path(name) else { return nil }
    guard let id = FieldID(path) else { throw ModelError.noSuchField(path.text) }
    return id
  }

  /// Ends the taking.
  /// - Throws: `DBusError.invalidArgs` if there is an option that was not taken.
  func finish() throws(DBusError) {
    guard let stray = left.keys.sorted().first else { return }
    let list = known.isEmpty ? "there are no options" : "known options are " + known.joined(separator: ", ")
    throw DBusError(.invalidArgs, "unknown option '\(stray.excerpt)': \(list)")
  }
}
