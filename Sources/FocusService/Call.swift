internal import DBus
internal import DBusTypes
internal import FocusModel

/// One method call on one of the daemon's objects, its arguments checked against the method's signature.
struct Call {
  /// Who calls, as the bus vouches for it.
  let client: BusName
  /// The object that is called.
  let target: Target
  /// What the call carries, of the types that the method's table entry names.
  let arguments: [DBusValue]
  /// Where the answer goes that is not there yet when the method's handler returns.
  let reply: PendingReply

  /// The argument at `index`, a text.
  /// - Throws: `DBusError` where the method's table entry has no text there.
  func string(_ index: Int) throws(DBusError) -> String {
    guard index < arguments.count, case .string(let text) = arguments[index] else { throw Call.tableError }
    return text
  }

  /// What the variant at `index` holds.
  /// - Throws: `DBusError` where the method's table entry has no variant there.
  func variant(_ index: Int) throws(DBusError) -> DBusValue {
    guard index < arguments.count, let content = arguments[index].variantContent else { throw Call.tableError }
    return content
  }

  /// The names and values of the dictionary from text at `index`.
  /// - Throws: `DBusError.invalidArgs` where it has a name twice.
  func dictionary(_ index: Int) throws(DBusError) -> [String: DBusValue] {
    guard index < arguments.count, case .dictionary(let dictionary) = arguments[index] else { throw Call.tableError }
    var values: [String: DBusValue] = [:]
    for entry in dictionary.entries {
      guard case .string(let name) = entry.key else { throw Call.tableError }
      guard values.updateValue(entry.value.variantContent ?? entry.value, forKey: name) == nil else {
        throw DBusError(.invalidArgs, "'\(name.excerpt)' is given twice")
      }
    }
    return values
  }

  /// The bindings that the called object shows.
  /// - Throws: `DBusError` where the object shows none; then its table has no such method.
  func place() throws(DBusError) -> Place {
    guard let place = target.place else { throw Call.tableError }
    return place
  }

  /// The field that is called.
  /// - Throws: `DBusError` where the object is no field; then its table has no such method.
  func field() throws(DBusError) -> FieldID {
    guard case .field(let id) = target else { throw Call.tableError }
    return id
  }

  private static let tableError = DBusError(.failed, "the method's table entry does not fit its handler")
}

/// The options of a method, taken one by one; what is left over is not known.
struct Options {
  private var left: [String: DBusValue]
  private var known: [String] = []

  init(_ values: [String: DBusValue]) { left = values }

  /// Takes the option `name`, or nil where it is not given.
  /// - Throws: `DBusError.invalidArgs` where it is not of `type`.
  mutating func take(_ name: String, _ type: DBusType) throws(DBusError) -> DBusValue? {
    known.append(name)
    guard let value = left.removeValue(forKey: name) else { return nil }
    guard value.type == type else {
      throw DBusError(.invalidArgs, "the option '\(name)' is of type '\(type)', and '\(value.type)' was given")
    }
    return value
  }

  mutating func boolean(_ name: String) throws(DBusError) -> Bool {
    guard case .boolean(let value) = try take(name, .boolean) else { return false }
    return value
  }

  mutating func string(_ name: String) throws(DBusError) -> String? {
    guard case .string(let value) = try take(name, .string) else { return nil }
    return value
  }

  mutating func strings(_ name: String) throws(DBusError) -> [String]? {
    guard case .array(let values) = try take(name, .array(.string)) else { return nil }
    return values.compactMap { value in
      guard case .string(let text) = value else { return nil }
      return text
    }
  }

  /// Takes the option `name`, the path of a field.
  /// - Throws: `FocusError.noSuchField` where it is no field's path, `DBusError.invalidArgs` where it is no path.
  mutating func field(_ name: String) throws -> FieldID? {
    guard case .objectPath(let path) = try take(name, .objectPath) else { return nil }
    guard let id = Target.fieldID(of: path) else { throw FocusError.noSuchField(path.text) }
    return id
  }

  /// Ends the taking.
  /// - Throws: `DBusError.invalidArgs` where there is an option that was not taken.
  func finish() throws(DBusError) {
    guard let stray = left.keys.sorted().first else { return }
    let list = known.isEmpty ? "there are none" : "known are " + known.joined(separator: ", ")
    throw DBusError(.invalidArgs, "there is no option '\(stray.excerpt)': \(list)")
  }
}
