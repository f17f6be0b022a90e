internal import EventLoop
internal import ProgramSupport

/// A connection to a Wayland compositor, which comes back when the compositor does:
/// <https://wayland.freedesktop.org/docs/html/ch04.html>.
final class WaylandDisplay {
  /// An object of the compositor's that can be bound.
  private struct Global {
    let name: UInt32
    let version: UInt32
  }

  private static let display: UInt32 = 1
  /// From here on the compositor names objects.
  private static let firstServerID: UInt32 = 0xff00_0000
  /// The most that the compositor may leave unread.
  private static let longestOutput = 1 << 20
  /// The most objects that the compositor may not forget.
  private static let mostDestroyed = 1 << 16

  private let stream: LastingStream
  private var input = ByteQueue()
  private var objects: [UInt32: WaylandInterface] = [:]
  private var callbacks: [UInt32: () -> Void] = [:]
  private var globals: [WaylandInterface: Global] = [:]
  private var lastID = WaylandDisplay.display
  /// Objects that are destroyed, and those that the compositor has forgotten: their numbers are used again.
  private var destroyed: Set<UInt32> = []
  private var free: [UInt32] = []

  /// Whether the compositor is KDE's, which shows its windows only to those who may see them.
  private(set) var isPlasma = false

  /// Called with each new connection.
  var onConnect: (() -> Void)?
  /// Called when all globals of a new connection are known.
  var onGlobals: (() -> Void)?
  /// Called with each event of an object that was bound, or that came with one.
  var onEvent: ((WaylandEvent, UInt32, WaylandArguments) throws -> Void)?
  /// Called when all that has arrived in a turn is read.
  var onTurn: (() -> Void)?
  var onLost: (() -> Void)?
  var onForgotten: (() -> Void)?
  var onEnd: ((String) -> Void)?

  init(path: String, on loop: EventLoop, log: Log) {
    stream = LastingStream("the Wayland compositor", path: path, on: loop, log: log)
  }

  /// Connects.
  /// - Throws: `SystemError` if nobody listens.
  func connect() throws {
    stream.onConnect = { [weak self] in self?.connected() }
    stream.onBytes = { [weak self] in try self?.arrived($0) }
    stream.onLost = { [weak self] in self?.onLost?() }
    stream.onForgotten = { [weak self] in self?.onForgotten?() }
    stream.onEnd = { [weak self] in self?.onEnd?($0) }
    try stream.connect()
  }

  /// Whether it comes back when the compositor does.
  var isLasting: Bool {
    get { stream.isLasting }
    set { stream.isLasting = newValue }
  }

  func lost(_ reason: String) { stream.lost(reason) }
  func told() { stream.told() }
  func succeeded() { stream.succeeded() }
  func end() { stream.end() }

  private func connected() {
    input = ByteQueue()
    (objects, callbacks, globals) = ([Self.display: .display], [:], [:])
    (lastID, destroyed, free, isPlasma) = (Self.display, [], [], false)
    let getRegistry = 1
    _ = create(.registry) { send(Self.display, getRegistry, [.number($0)]) }
    sync { [weak self] in self?.onGlobals?() }
    onConnect?()
  }

  // MARK: Requests

  func send(_ object: UInt32, _ opcode: Int, _ arguments: [WaylandArgument] = []) {
    guard stream.isOpen else { return }
    stream.send(WaylandMessage.bytes(object, opcode, arguments))
    if stream.unsent > Self.longestOutput { lost("does not read what it is sent") }
  }

  /// Names a new object for a request.
  func create(_ interface: WaylandInterface, _ request: (UInt32) -> Void) -> UInt32 {
    let object: UInt32
    if let used = free.popLast() {
      object = used
    } else {
      lastID += 1
      object = lastID
    }
    objects[object] = interface
    request(object)
    return object
  }

  /// Calls `handler` when all requests before it are carried out and what they cause is told.
  func sync(_ handler: @escaping () -> Void) {
    let request = 0
    _ = create(.callback) { callback in
      callbacks[callback] = handler
      send(Self.display, request, [.number(callback)])
    }
  }

  func offers(_ interface: WaylandInterface, version: UInt32 = 1) -> Bool {
    globals[interface].map { $0.version >= version } ?? false
  }

  /// Binds a global object, in the newest version that both sides know; nil if it is not offered.
  func bind(_ interface: WaylandInterface) -> UInt32? {
    guard let global = globals[interface] else { return nil }
    let (registry, bind) = (Self.display + 1, 0)
    return create(interface) { object in
      let version = min(global.version, interface.version)
      send(
        registry, bind,
        [.number(global.name), .string(interface.rawValue), .number(version), .number(object)])
    }
  }

  /// An object that the compositor has created.
  /// - Throws: `FramingError` if there cannot be such an object.
  func adopt(_ object: UInt32, _ interface: WaylandInterface) throws(FramingError) {
    guard object >= Self.firstServerID, objects[object] == nil else {
      throw FramingError(description: "a new object with a number that is not free")
    }
    objects[object] = interface
  }

  /// Destroys an object, of which no event is read any more; `opcode` is nil if the compositor has done so itself.
  func destroy(_ object: UInt32, _ opcode: Int?) {
    guard objects.removeValue(forKey: object) != nil else { return }
    if object < Self.firstServerID { destroyed.insert(object) }
    if let opcode { send(object, opcode) }
    if destroyed.count > Self.mostDestroyed { lost("does not forget what is destroyed") }
  }

  // MARK: Events

  private func arrived(_ bytes: [UInt8]) throws {
    input.append(bytes)
    while stream.isOpen, let message = try input.nextMessage() {
      // What is unknown is of a newer version, or of an object that was destroyed in the meantime.
      guard let interface = objects[message.object], let (event, signature) = interface.event(message.opcode) else {
        continue
      }
      try received(event, message.object, interface, WaylandArguments(message.body, signature))
    }
    onTurn?()
  }

  private func received(
    _ event: WaylandEvent, _ object: UInt32, _ interface: WaylandInterface, _ arguments: WaylandArguments
  ) throws {
    switch (interface, event) {
    case (.display, .error): lost("has refused a request: \(arguments.text(2))")
    case (.display, _):
      if destroyed.remove(arguments.number(0)) != nil { free.append(arguments.number(0)) }
    case (.registry, _): global(arguments)
    case (.callback, _):
      let handler = callbacks.removeValue(forKey: object)
      destroy(object, nil)
      handler?()
    default: try onEvent?(event, object, arguments)
    }
  }

  private func global(_ arguments: WaylandArguments) {
    let name = arguments.text(1)
    if name.hasPrefix("org_kde_plasma") { isPlasma = true }
    guard let interface = WaylandInterface(rawValue: name), globals[interface] == nil else { return }
    globals[interface] = Global(name: arguments.number(0), version: arguments.number(2))
  }
}
