internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A call of one of the daemon's methods, with what that takes, within the limits; what is answered later keeps nothing of it.
struct Call {
  /// The most variants of one array or dictionary: as many as a field may have keys, and more than a call has arguments.
  private static let entryLimit = Limits.keysPerField

  /// Who calls, as the bus vouches for it.
  let client: BusName
  /// The object that is called.
  let target: Target
  /// The arguments that the handler has not read yet; it reads them as the method's table entry names them.
  var arguments: BodyReader
  /// The file descriptors that came with it, in the order in which the arguments name them.
  let descriptors: [UnixFD?]
  /// Where the answer goes that is not there yet when the method's handler returns.
  let reply: PendingReply

  /// Reads an array of strings.
  mutating func strings() throws -> [String] {
    var texts: [String] = []
    try arguments.array { element throws(WireError) in texts.append(try element.text()) }
    return texts
  }

  /// Reads an array of variants, the arguments of a command.
  /// - Throws: `DBusError.invalidArgs` if there are more than any call takes.
  mutating func variants() throws -> [MarshalledValue] {
    var values: [MarshalledValue] = []
    let isWhole = try arguments.array(limit: Call.entryLimit) { element throws(WireError) in
      values.append(try element.variant())
    }
    guard isWhole else {
      throw DBusError(.invalidArgs, "a command takes at most \(Call.entryLimit) arguments")
    }
    return values
  }

  /// Reads a dictionary from names to variants.
  /// - Throws: `DBusError`: `invalidArgs` if it has a name twice, `limitsExceeded` if it has more than a field has keys.
  mutating func values() throws -> [String: MarshalledValue] {
    try dictionary(limit: Call.entryLimit) { entry throws(WireError) in try entry.variant() }.values
  }

  /// Reads a dictionary from keys to variants.
  /// - Throws: as `values` does; `SyntaxError` for what is no key.
  mutating func bindings() throws -> [Key: MarshalledValue] {
    Dictionary(try values().map { (try Key($0), $1) }) { $1 }
  }

  /// Reads a dictionary from names to booleans, in the order in which they are given, as far as one more than a field has.
  /// - Throws: `DBusError.invalidArgs` if it has a name twice.
  mutating func states() throws -> [(name: String, isOn: Bool)] {
    let (states, names) = try dictionary(limit: .max) { entry throws(WireError) in try entry.boolean() }
    return names.compactMap { name in states[name].map { (name, $0) } }
  }

  /// Reads a dictionary from names, and its first names in the order in which they are given.
  private mutating func dictionary<Value>(
    limit: Int, _ value: (inout BodyReader) throws(WireError) -> Value
  ) throws -> (values: [String: Value], names: [String]) {
    var values: [String: Value] = [:]
    var names: [String] = []
    var repeated: String?
    let isWhole = try arguments.array(ofEntries: true, limit: limit) { entry throws(WireError) in
      let name = try entry.text()
      if values.updateValue(try value(&entry), forKey: name) != nil {
        repeated = repeated ?? name
      } else if names.count <= Limits.keysPerField {
        names.append(name)
      }
    }
    guard isWhole else {
      throw DBusError(.limitsExceeded, "more than \(limit) names are given, but a field has no more keys")
    }
    if let repeated { throw DBusError(.invalidArgs, "'\(repeated.excerpt)' is given twice") }
    return (values, names)
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
    guard case .place(.field(let id)) = target else { throw Call.tableError }
    return id
  }

  private static let tableError = DBusError(.failed, "the method's table entry does not fit its handler")
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

  /// The decoded values of an owner's answer, which is past no limit of a call.
  /// - Throws: `DBusError.limitsExceeded`.
  func limitedArguments() throws(DBusError) -> [DBusValue] {
    try withBody { bytes throws(DBusError) in try checkLimits(bytes) }
    return try arguments()
  }
}
