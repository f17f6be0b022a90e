import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// What the tests of the model are about: two owners, a few keys, a model to play with.
struct Stage {
  let model = FocusModel()
  let owner: BusName
  let other: BusName

  init() throws {
    owner = try BusName(":1.1")
    other = try BusName(":1.2")
  }

  /// Registers a field, settles, and returns its id.
  @discardableResult
  func register(
    _ id: String, _ values: [String: MarshalledValue] = [:], parent: String? = nil, scope: Scope = .field,
    readOnly: Set<String> = [], lingers: Bool = false, sensitive: Bool = false, owner: BusName? = nil
  ) throws -> FieldID {
    var options = FieldOptions()
    options.parent = try parent.map { try FieldID($0) }
    options.scope = scope
    options.readOnly = Set(try readOnly.map { try Key($0) })
    options.lingers = lingers
    options.isSensitive = sensitive
    defer { _ = model.settle() }
    return try model.register(
      id.isEmpty ? nil : FieldID(id), keyed(values), options, owner: owner ?? self.owner
    )
  }

  func focus(_ id: String) throws { try model.focus(FieldID(id), by: owner) }

  func blur(_ id: String) throws { try model.blur(FieldID(id), by: owner) }

  @discardableResult
  func write(
    _ key: String, _ value: MarshalledValue, at place: Place = .focused,
    if condition: WriteCondition = WriteCondition(),
    by client: BusName? = nil
  ) throws -> Reading {
    try model.written(value, to: BindingPath(key), at: place, if: condition, by: client ?? other).reading
  }

  func value(_ key: String, at place: Place = .focused, by client: BusName? = nil) throws -> MarshalledValue {
    try model.read(BindingPath(key), at: place, by: client ?? other).value
  }

  /// The ids on the focus path.
  var path: [String] { model.focusPath.map(\.text) }

  var history: [String] { model.history.map(\.text) }
}

extension FocusModel {
  /// What must be told after an operation.
  func told(_ operation: @autoclosure () throws -> Void) rethrows -> [Change] {
    try operation()
    return settle()
  }

  /// Writes to a stored binding, and settles.
  func written(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    by client: BusName
  ) throws -> (reading: Reading, changes: [Change]) {
    guard case .written(let reading) = try write(value, to: path, at: place, if: condition, by: client)
    else { throw ModelError.invalid("\(path) is bound") }
    return (reading, settle())
  }
}

extension Field {
  /// The values that everyone is shown.
  var shownValues: [Key: MarshalledValue] { names.reduce(into: [:]) { $0[$1] = shown($1).value } }

  /// Its commands, each with whether it is enabled.
  var enabledCommands: [Key: Bool] { commands.mapValues(\.isEnabled) }
}

func keyed(_ values: [String: MarshalledValue]) throws -> [Key: MarshalledValue] {
  var result: [Key: MarshalledValue] = [:]
  for (name, value) in values { result[try Key(name)] = value }
  return result
}

/// What a client knows that believes every change it is told of, and nothing else.
struct Observer {
  private(set) var focused: [Key: MarshalledValue] = [:]
  private(set) var fields: [FieldID: [Key: MarshalledValue]] = [:]
  private(set) var interfaces: [Place: Set<InterfaceName>] = [:]
  private var facts: [FieldID: [FieldProperty: String]] = [:]
  private var focus: (field: FieldID?, path: [FieldID], history: [FieldID]) = (nil, [], [])

  /// The interfaces of what everyone is shown of `field`, found without its counts.
  private static func interfaces(of field: Field) -> Set<InterfaceName> {
    Set(field.names.filter { field.shown($0) != .none }.map(\.interface))
  }

  /// Takes in `changes`, checking that each says something new.
  mutating func see(_ changes: [Change], _ model: FocusModel) throws {
    for change in changes {
      switch change {
      case .fieldAdded(let id):
        let field = try #require(model.fields[id])
        #expect(fields[id] == nil, "\(id) was there")
        fields[id] = field.shownValues
        interfaces[.field(id)] = Self.interfaces(of: field)
        facts[id] = Self.facts(of: field, model)
      case .fieldRemoved(let id, let gone):
        #expect(Set(gone) == interfaces[.field(id), default: []])
        #expect(fields.removeValue(forKey: id) != nil, "\(id) was not there")
        interfaces[.field(id)] = nil
      case .interfacesAdded(let place, let added):
        #expect(interfaces[place, default: []].isDisjoint(with: added))
        interfaces[place, default: []].formUnion(added)
      case .interfacesRemoved(let place, let removed):
        #expect(interfaces[place, default: []].isSuperset(of: removed))
        interfaces[place, default: []].subtract(removed)
      case .valuesChanged(let place, let interface, let changed, let invalidated):
        #expect(!changed.isEmpty || !invalidated.isEmpty)
        var values = known(place)
        for named in changed {
          let key = try Key(interface: interface.text, member: named.name.text)
          #expect(values[key] != named.value, "told of \(key) at \(place) though it did not change")
          values[key] = named.value
        }
        for member in invalidated {
          let key = try Key(interface: interface.text, member: member.text)
          #expect(values.removeValue(forKey: key) != nil, "\(key) at \(place) was nil already")
        }
        if case .field(let id) = place { fields[id] = values } else { focused = values }
      case .fieldChanged(let id, let property):
        let now = Self.facts(of: try #require(model.fields[id]), model)[property]
        #expect(facts[id]?[property] != now, "told of \(property) of \(id) though it did not change")
        facts[id]?[property] = now
      case .focusChanged(let field, let path, let history):
        #expect(field == (focus.field != model.focusedField))
        #expect(path == (focus.path != model.focusPath))
        #expect(history == (focus.history != model.history))
        focus = (model.focusedField, model.focusPath, model.history)
      case .membersChanged, .sessionFieldsChanged: break
      }
    }
  }

  private static func facts(of field: Field, _ model: FocusModel) -> [FieldProperty: String] {
    [
      .owner: "\(field.owner?.text ?? "")", .parent: "\(field.parent?.text ?? "")",
      .process: "\(model.process(of: field))", .active: "\(field.activity?.isActive == true)",
      .focused: "\(model.focusedField == field.id)", .adopted: "\((field.window?.adopted ?? [:]).keys.sorted())",
    ]
  }

  private func known(_ place: Place) -> [Key: MarshalledValue] {
    switch place {
    case .focused: focused
    case .field(let id): fields[id, default: [:]]
    }
  }

  /// Checks that the reported changes match the model.
  func check(against model: FocusModel) throws {
    var truth: [Key: ShownMember] = [:]
    for key in Set(model.fields.values.flatMap(\.names)) {
      var member = model.resolve(key).flatMap { model.fields[$0]?.shown(key) } ?? .none
      member.isEnabled = model.resolve(command: key).flatMap { model.fields[$0]?.commands[key]?.isEnabled }
      if member != .none { truth[key] = member }
    }
    #expect(focused == truth.compactMapValues(\.value))
    #expect(interfaces[.focused, default: []] == Set(truth.keys.map(\.interface)))
    #expect(model.shownAtFocused.values.joined().reduce(into: [:]) { $0[$1.key] = $1.value } == truth)
    #expect(fields == model.fields.mapValues(\.shownValues))
    for (id, field) in model.fields {
      #expect(interfaces[.field(id), default: []] == Self.interfaces(of: field))
      #expect(facts[id] == Self.facts(of: field, model))
    }
    #expect(focus == (model.focusedField, model.focusPath, model.history))
  }
}

extension FocusModel {
  /// What follows from the fields and is not what it would be if it were found anew; and the counts of what is shown.
  var staleIndexes: [String] {
    let fresh = FieldTable(fields)
    var stale: [String] = []
    if fresh.names != table.names { stale.append("names") }
    if fresh.allowances != table.allowances { stale.append("allowances") }
    if fresh.memory != table.memory { stale.append("memory") }
    if fresh.session != table.session { stale.append("session") }
    if fresh.adoptions != table.adoptions { stale.append("adoptions") }
    if (fresh.connections, fresh.scenes) != (table.connections, table.scenes) { stale.append("owners") }
    if fresh.fields.contains(where: { $1.interfaceCounts != fields[$0]?.interfaceCounts }) { stale.append("counts") }
    for (counts, isCounted) in [
      (keysShownAtFocused, \.isKey), (commandsShownAtFocused, { $0.isEnabled != nil }),
    ] as [(NameCounts, (ShownMember) -> Bool)] {
      let truth = shownAtFocused.mapValues { $0.values.count(where: isCounted) }.filter { $0.value > 0 }
      if counts.byInterface != truth || counts.all != truth.values.reduce(0, +) { stale.append("shown") }
    }
    return stale
  }
}

/// Checks that `body` is refused with `error`.
func refused(_ error: ModelError, _ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
  #expect(throws: error, sourceLocation: location, performing: body)
}

extension FocusModel {
  /// A model of what was saved, all of which is within the limits.
  static func restored(_ fields: [Field], _ state: SavedState = SavedState()) throws -> FocusModel {
    var restoration = Restoration()
    for field in fields { try restoration.add(field) }
    try restoration.finish(state)
    #expect(restoration.leftOut == [])
    return restoration.model
  }
}
