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

  /// Registers a field and returns its id.
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
    return try model.register(
      id.isEmpty ? nil : FieldID(id), keyed(values), options, owner: owner ?? self.owner
    ).id
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
  /// Writes to a stored binding.
  func written(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    by client: BusName
  ) throws -> (reading: Reading, changes: [Change]) {
    guard case .written(let reading, let changes) = try write(value, to: path, at: place, if: condition, by: client)
    else { throw ModelError.invalid("\(path) is bound") }
    return (reading, changes)
  }
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

  /// Takes in `changes`, checking that each says something new.
  mutating func see(_ changes: [Change], _ model: FocusModel) throws {
    for change in changes {
      switch change {
      case .fieldAdded(let id):
        fields[id] = try #require(model.fields[id]).shown.values
        interfaces[.field(id)] = Set(fields[id, default: [:]].keys.map(\.interface))
      case .fieldRemoved(let id, let gone):
        #expect(Set(gone) == interfaces[.field(id), default: []])
        fields[id] = nil
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
      case .membersChanged, .ownerChanged, .processChanged, .parentChanged, .focusedChanged, .focusChanged,
        .activeChanged,
        .adoptedChanged, .sessionFieldsChanged:
        break
      }
    }
  }

  private func known(_ place: Place) -> [Key: MarshalledValue] {
    switch place {
    case .focused: focused
    case .field(let id): fields[id, default: [:]]
    }
  }

  /// Checks that the reported changes match the model.
  func check(against model: FocusModel) throws {
    var truth: [Key: MarshalledValue] = [:]
    for (key, id) in model.resolveAll() { truth[key] = model.fields[id]?.shown.values[key] }
    #expect(focused == truth)
    #expect(interfaces[.focused, default: []] == Set(truth.keys.map(\.interface)))
    #expect(fields == model.fields.mapValues(\.shown.values))
  }
}

/// Checks that `body` is refused with `error`.
func refused(_ error: ModelError, _ body: () throws -> Void, at location: SourceLocation = #_sourceLocation) {
  #expect(throws: error, sourceLocation: location, performing: body)
}

extension FocusModel {
  /// A model of what was saved, all of which is within the limits.
  static func restored(_ fields: [SavedField], _ state: SavedState = SavedState()) throws -> FocusModel {
    var restoration = Restoration()
    for field in fields { try restoration.add(field) }
    try restoration.finish(state)
    #expect(restoration.leftOut == [])
    return restoration.model
  }
}
