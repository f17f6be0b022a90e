internal import CDBus
public import DBusTypes

/// An error as it travels on the bus: a name for programs, a sentence for people.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong, as an error name.
  public let name: ErrorName
  /// What was asked and what would have been right, in one sentence.
  public let message: String
  /// Where it arose, which makes no error another.
  public let origin: Origin

  /// Where an error arose; a peer may answer with any name, those that the bus uses included.
  public enum Origin: Sendable {
    /// In this process, as when no reply comes in time.
    case process
    /// The bus sent it, as when the name that was called has no owner.
    case bus
    /// The peer that was called sent it.
    case peer
  }

  /// Creates an error.
  public init(_ name: ErrorName, _ message: String, origin: Origin = .process) {
    self.name = name
    self.message = message
    self.origin = origin
  }

  /// Whether the names and the messages are the same.
  public static func == (first: DBusError, second: DBusError) -> Bool {
    first.name == second.name && first.message == second.message
  }

  /// Hashes the name and the message.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(message)
  }

  /// The message, then the name.
  public var description: String { "\(message) (\(name))" }
}

extension ErrorName {
  private static func standard(_ last: String) -> ErrorName {
    ErrorName(known: "org.freedesktop.DBus.Error." + last)
  }

  /// The caller may not do that.
  public static let accessDenied = standard("AccessDenied")
  /// The connection to the bus is gone, or there was none.
  public static let disconnected = standard("Disconnected")
  /// Something failed for which there is no other name.
  public static let failed = standard("Failed")
  /// An argument is not valid.
  public static let invalidArgs = standard("InvalidArgs")
  /// A limit would be passed.
  public static let limitsExceeded = standard("LimitsExceeded")
  /// The bus name has no owner, and none is started for it.
  public static let nameHasNoOwner = standard("NameHasNoOwner")
  /// libdbus found no memory.
  public static let noMemory = standard("NoMemory")
  /// The peer did not answer in time.
  public static let noReply = standard("NoReply")
  /// That is not available here.
  public static let notSupported = standard("NotSupported")
  /// The property is there and cannot be written.
  public static let propertyReadOnly = standard("PropertyReadOnly")
  /// The bus name has no owner, and none is started for it.
  public static let serviceUnknown = standard("ServiceUnknown")
  /// The peer did not answer in time.
  public static let timeout = standard("Timeout")
  /// The object has no such interface.
  public static let unknownInterface = standard("UnknownInterface")
  /// The interface has no such method.
  public static let unknownMethod = standard("UnknownMethod")
  /// There is no such object.
  public static let unknownObject = standard("UnknownObject")
  /// The interface has no such property.
  public static let unknownProperty = standard("UnknownProperty")
}

extension DBusError {
  /// libdbus's error for a failed call of its own, if it gives no other.
  static let noMemory = DBusError(.noMemory, "out of memory")

  /// The error for text that is no name, path, signature or value.
  public init(_ error: SyntaxError) { self.init(.invalidArgs, error.description) }
}

/// Runs `body` with a fresh libdbus error and throws what it holds afterwards.
/// - Throws: `DBusError` if `body` set its error.
func withDBusError<Result>(
  _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Result
) throws(DBusError) -> Result {
  var raw = CDBus.DBusError()
  dbus_error_init(&raw)
  let result = body(&raw)
  guard dbus_error_is_set(&raw) != 0 else { return result }
  defer { dbus_error_free(&raw) }
  throw DBusError(
    ErrorName(known: String(optionalCString: raw.name) ?? ErrorName.failed.text),
    String(optionalCString: raw.message) ?? "")
}

extension String {
  /// The text at `pointer`, or nil for a null pointer.
  init?(optionalCString pointer: UnsafePointer<CChar>?) {
    guard let pointer else { return nil }
    self.init(cString: pointer)
  }
}
