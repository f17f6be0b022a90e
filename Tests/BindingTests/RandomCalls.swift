import BusSupport
import DBusTypes
import TestSupport

/// Random calls of the daemon's methods: mostly what could be meant, then ever stranger things.
struct RandomCalls {
  private var generator: ValueGenerator
  private let methods: [IntrospectedMethod]

  init(seed: UInt64, _ methods: [IntrospectedMethod]) {
    generator = ValueGenerator(seed: seed)
    self.methods = methods
  }

  /// A call, and which types a reply that is no error has, nil for any.
  struct Call {
    var message: DaemonCall
    let output: [DBusType]?
  }

  private static let names = [
    "demo.Form.Number", "demo.Form.Text", "demo.Form.Items", "demo.Form.Items/0", "demo.Form.Items/-",
    "demo.Form.Map/a", "demo.Form.Map/new", "demo.Form", "demo.Other.Key", "Number", "Text", "", "f1", "f2", "f3", "f4",
    "f5", "f6", "f7", "f8", "field", "scene", Focus1.bindings, Focus1.fieldInterface, "Keys", "Owner",
    Focus1.properties, "\u{212A}eys", "demo.Form.Items/\u{301}", "demo.Form.Items//~1~0", "~", "/",
  ]
  private static let options = [
    "label", "parent", "scope", "read_only", "linger", "sensitive", "focus", "revision", "field", "nonsense", "",
  ]

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator.numbers) == 0 }

  private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator.numbers) ?? "" }

  private mutating func name() -> String { pick(chance(2) ? Array(Self.names.prefix(8)) : Self.names) }

  private mutating func fieldPath() -> ObjectPath {
    ObjectPath(known: Focus1.field("f\(chance(8) ? "00" : "\(Int.random(in: 1...8, using: &generator.numbers))")"))
  }

  /// A value of `type`; texts and paths are mostly ones that mean something.
  private mutating func argument(_ type: DBusType) -> DBusValue {
    switch type {
    case .string where !chance(6):
      return .string(chance(200) ? String(repeating: "x/", count: 50_000) : name())
    case .objectPath where !chance(6): return .objectPath(fieldPath())
    case .array(.string):
      return .strings((0..<Int.random(in: 0...2, using: &generator.numbers)).map { _ in name() })
    case .dictionary(key: .string, value: .variant):
      let isOptions = chance(2)
      var entries: Named = []
      for _ in 0..<Int.random(in: 0...3, using: &generator.numbers) {
        let name = isOptions ? pick(Self.options) : name()
        entries.append((name, isOptions ? option(name) : someValue()))
      }
      return .properties(entries)
    case .variant: return .variant(someValue())
    default: return generator.value(of: type)
    }
  }

  private mutating func option(_ name: String) -> DBusValue {
    guard !chance(6) else { return someValue() }
    switch name {
    case "label": return .string("label")
    case "parent", "field": return .objectPath(fieldPath())
    case "scope": return .string(chance(2) ? "scene" : "field")
    case "read_only": return argument(.array(.string))
    case "linger", "sensitive", "focus": return .boolean(chance(2))
    case "revision": return .uint64(UInt64.random(in: 0...200, using: &generator.numbers))
    default: return someValue()
    }
  }

  private mutating func someValue() -> DBusValue {
    switch Int.random(in: 0..<40, using: &generator.numbers) {
    case 0:
      return (0..<Int.random(in: 50...60, using: &generator.numbers)).reduce(.byte(1)) { value, _ in .variant(value) }
    case 1:
      return .array(
        DBusArray(bytes: [UInt8](repeating: 1, count: 1 << Int.random(in: 10...21, using: &generator.numbers))))
    case 2: return .properties([("a", .int32(1)), ("a", .int32(2))])
    case 3..<15: return .int32(Int32.random(in: 0..<4, using: &generator.numbers))
    case 15..<25: return .string(name())
    default: return generator.value(of: generator.type(depth: 3))
    }
  }

  /// The next call.
  mutating func next() throws -> Call {
    if chance(6) { return try registration() }
    var method = try anyMethod()
    // A field that is gone answers one thing only.
    if method.name == "Unregister", !chance(8) { method = try anyMethod() }
    let path = try path(for: method)
    let interface = chance(40) ? pick(["demo.Form", "a.b", "org.freedesktop.DBus.Nothing"]) : method.interface
    let member = chance(40) ? pick(["Number", "Nothing", "Get", "Read", "Register"]) : method.name
    var arguments: [DBusValue] = []
    for type in method.input { arguments.append(argument(type)) }
    let isMeant = interface == method.interface && member == method.name && !chance(10)
    if !isMeant { distort(&arguments) }
    let isNamed = !chance(20)
    let message = DaemonCall(path.text, isNamed ? interface : nil, member, arguments)
    return Call(message: message, output: isMeant && isNamed ? method.output : nil)
  }

  private mutating func anyMethod() throws -> IntrospectedMethod {
    guard let method = methods.randomElement(using: &generator.numbers) else { throw UnexpectedReply(reply: []) }
    return method
  }

  private mutating func path(for method: IntrospectedMethod) throws -> ObjectPath {
    let strays = ["/", "/org", "/org/focusd", "/a", Focus1.manager + "/x", Focus1.field("a/b")]
    if chance(40) { return try ObjectPath(pick(strays)) }
    return method.path.hasPrefix(Focus1.field("")) ? fieldPath() : try ObjectPath(method.path)
  }

  private mutating func distort(_ arguments: inout [DBusValue]) {
    switch Int.random(in: 0..<4, using: &generator.numbers) {
    case 0: arguments = Array(arguments.dropLast())
    case 1: arguments.append(someValue())
    case 2: arguments = [someValue(), someValue()]
    default:
      if let index = arguments.indices.randomElement(using: &generator.numbers) { arguments[index] = someValue() }
    }
  }

  /// A registration that mostly goes well.
  private mutating func registration() throws -> Call {
    let id = fieldPath().elements.last.map { String($0) } ?? ""
    var options: Named = []
    for name in ["parent", "scope", "sensitive", "linger", "focus"] where chance(4) {
      options.append((name, option(name)))
    }
    return Call(message: .register(id, Self.fields, options), output: [.objectPath])
  }

  /// What the fields publish.
  static let fields: Named = [
    ("demo.Form.Number", .int32(1)), ("demo.Form.Text", .string("text")), ("demo.Form.Items", .strings(["a", "b"])),
    ("demo.Form.Map", .properties([("a", .int32(1))])),
  ]
}
