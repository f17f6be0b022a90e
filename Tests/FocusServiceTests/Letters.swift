import BusSupport
import DBusTypes

/// What arrives at the service.
enum Letter: Sendable {
  /// A call by the connection `from`.
  case call(_ from: String, DaemonCall)
  /// `NameOwnerChanged` of a connection that has left the bus.
  case departure(String)
  /// `PropertiesChanged` of an owner's object.
  case told(_ owner: String, Named)
  /// The same, of values that it leaves to be asked for.
  case invalidated(_ owner: String, [String])
  /// A signal of an owner's object.
  case emitted(_ owner: String, String)
  /// The answer of an owner's object to the oldest call of a method that is not answered yet.
  case answer(_ owner: String, String)
  /// An answer of the test's own, in place of such an answer.
  case answered(_ owner: String, String, [DBusValue])
  /// An error of D-Bus's own, in place of such an answer.
  case refusal(_ owner: String, String, _ error: String = "UnknownObject")
  /// A reply with these values.
  case raw(Sent, [DBusValue])

  /// A word or two for tables.
  var name: String {
    switch self {
    case .call(_, let call): call.member
    case .departure: "departure"
    case .told(_, let changes): "told " + changes.map { "\($0.value.basicText ?? "?")" }.joined(separator: " ")
    case .invalidated(_, let names): "invalidated " + names.joined(separator: " ")
    case .emitted(_, let member): member
    case .answer(_, let member): "\(member) answered"
    case .answered(_, let member, _): "\(member) answered"
    case .refusal(_, let member, _): "\(member) refused"
    case .raw: "reply"
    }
  }

  static func told(_ owner: String, level: Int32) -> Letter { .told(owner, [("Level", .int32(level))]) }
}

/// The object that every owner has: a number, a text that is nil at first, and a command.
struct OwnersObject {
  static let path = "/slider"
  static let interface = "demo.Bound"
  static let levelKey = "demo.Bound.Level"
  private static let xml = document((interface, property("Level", "i") + property("Text", "s") + method("Up")))

  /// The argument of `SetEnabled` that turns the command off.
  static let disabled = DBusValue.dictionary(
    DBusDictionary(known: .string, .boolean, [.init(key: .string("demo.Bound.Up"), value: .boolean(false))]))

  let level: Int32

  func answer(to question: Sent) -> [DBusValue] {
    switch question.member {
    case "Introspect": [.string(Self.xml)]
    case "GetAll": [.properties([("Level", .int32(level))])]
    case "Get": [.variant(question.arguments.last == .string("Text") ? .string("") : .int32(level))]
    default: []
    }
  }
}
