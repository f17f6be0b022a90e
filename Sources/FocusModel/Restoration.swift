internal import DBusTypes
public import FocusContract

/// Makes a model of saved fields, one after another, as far as the limits go: an earlier version may have had others.
public struct Restoration {
  /// The model, complete after `finish`.
  public let model = FocusModel()
  /// What is past a limit and left out, in words for people: fields and keys, never values.
  public private(set) var leftOut: [String] = []
  /// The containing fields of the fields that are left out.
  private var parents: [FieldID: FieldID?] = [:]
  private var fields: [FieldID: Field] = [:]
  private var allowances = Allowances()
  /// How many fields have each object.
  private var objects: [String: Int] = [:]

  /// Creates a model without fields, with room for `count` of them.
  public init(expecting count: Int = 0) { fields.reserveCapacity(count) }

  /// Adds `saved` without the values that exceed a limit; omits all of it if its owner exceeds its allowance.
  /// - Throws: `ModelError.invalid` for a value that is never saved.
  public mutating func add(_ saved: Field) throws(ModelError) {
    var field = saved
    field.bindings = [:]
    if let object = saved.awaited, let connection = field.connection {
      let count = objects[connection.text + object.choice.path.text, default: 0]
      guard count < Limits.fieldsPerObject else { return leaveOut(saved.id, in: saved.parent) }
      objects[connection.text + object.choice.path.text] = count + 1
    }
    var keysPastLimits: [Key] = []
    // In order, so that each start leaves out the same.
    let isFull = saved.bindings.count > Limits.keysPerField
    for (key, var binding) in isFull ? saved.bindings.sorted(by: { $0.key < $1.key }) : Array(saved.bindings) {
      do {
        try Limits.check(keys: field.bindings.count + 1)
        binding.extent = try Limits.check(binding.value, of: key)
        field.bindings[key] = binding
      } catch {
        guard case .limitExceeded = error else { throw error }
        keysPastLimits.append(key)
      }
    }
    // Up to version 0.2, the names of keys did not count: who is past the limit by these alone loses nothing.
    let extent = field.extent - field.bindings.keys.reduce(into: Extent()) { $0 += Extent(nameOf: $1) }
    do {
      try allowances.check(extent, fields: 1, of: field)
    } catch {
      return leaveOut(saved.id, in: saved.parent)
    }
    allowances.add(extent, fields: 1, of: field)
    field.countInterfaces()
    fields[saved.id] = field
    for key in keysPastLimits.sorted() { leaveOut(key, of: saved.id) }
  }

  /// Leaves out the field `id`, which is past a limit.
  public mutating func leaveOut(_ id: FieldID, in parent: FieldID?) {
    parents.updateValue(parent, forKey: id)
    leftOut.append("the field '\(id)'")
  }

  /// Leaves out the value of `key`, which is past a limit.
  public mutating func leaveOut(_ key: Key, of id: FieldID) { leftOut.append("\(key) of the field '\(id)'") }

  /// Completes the model with what was saved beside the fields.
  /// - Throws: `ModelError.invalid` if the parts do not fit each other.
  public mutating func finish(_ state: SavedState) throws(ModelError) {
    let inner = fields.values.compactMap { $0.parent == nil ? nil : $0.id }
    for id in inner {
      let parent = fields[id]?.parent.flatMap { present($0) }
      fields[id]?.parts.parent = parent
      guard let parent else { continue }
      guard fields[parent]?.parts.children.insert(id) != nil else {
        throw .invalid("the saved field '\(id)' has the parent '\(parent)', which does not exist")
      }
    }
    for id in inner {
      var depth = 0
      var next: FieldID? = id
      while let field = next, depth <= Limits.fieldDepth {
        depth += 1
        next = fields[field]?.parent
      }
      guard next == nil else { throw .invalid("the saved field '\(id)' is nested too deeply, or within itself") }
    }
    leaveOutKeys()
    var state = state
    state.focusedField = state.focusedField.flatMap { present($0) }
    // Nothing else holds the fields: to change one would copy them all.
    let all = fields
    fields = [:]
    model.load(all, state)
  }

  /// Leaves out the keys that a scene has too many of, those of its newest fields first.
  private mutating func leaveOutKeys() {
    var counts: [FieldID: Int] = [:]
    let scoped = fields.values.filter { $0.scope != .field }.map(\.byRegistration)
    for id in scoped.sorted().map(\.field) {
      var scene = id
      while let parent = fields[scene]?.parent { scene = parent }
      let count = fields[id]?.bindings.count ?? 0
      let room = Limits.keysPerScene - counts[scene, default: 0]
      counts[scene, default: 0] += min(room, count)
      guard count > room else { continue }
      for key in fields[id]?.bindings.keys.sorted().dropFirst(room) ?? [] {
        fields[id]?.bindings[key] = nil
        leaveOut(key, of: id)
      }
      fields[id]?.countInterfaces()
    }
  }

  /// `id`, or the nearest field around it that is not left out.
  private func present(_ id: FieldID) -> FieldID? {
    var next: FieldID? = id
    var passed: Set<FieldID> = []
    while let id = next, let parent = parents[id], passed.insert(id).inserted { next = parent }
    return next
  }
}
