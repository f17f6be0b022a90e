@preconcurrency internal import CXCB
internal import EventLoop
internal import FocusContract
internal import Glibc

/// An X server that cannot be reached.
package struct XError: Error, CustomStringConvertible {
  package let description: String
}

/// A window that the X server does not have, or not any more.
struct WindowGone: Error {}

/// A connection to an X server, `xcb(3)`: after the start nothing waits for a reply.
final class XConnection {
  private let raw: OpaquePointer
  private let root: xcb_window_t
  private weak var loop: EventLoop?
  private let atoms: [XAtom: xcb_atom_t]
  /// Which atom each number is.
  let names: [UInt32: XAtom]
  /// Whether the server tells the processes of its clients: the extension X-Resource 1.2.
  private let tellsProcesses: Bool
  /// What waits for replies, which come in order.
  private var waiting: [(sequence: UInt32, handler: (UnsafeRawPointer?) -> Void)] = []
  private var next = 0
  private var isClosed = false
  /// Whether something was asked since all was sent.
  private var mustSend = true

  /// Called when a property of a window is another; nil stands for the root window.
  var onPropertyChange: ((UInt32?, XAtom) -> Void)?
  /// Called when a window that is followed is gone.
  var onDestruction: ((UInt32) -> Void)?
  /// Called when all that had arrived is handled.
  var onTurn: (() -> Void)?
  /// Called once if the server is gone.
  var onEnd: (() -> Void)?

  /// Connects to `display`, or to that of the environment.
  /// - Throws: `XError`.
  init(display: String?) throws(XError) {
    var number: Int32 = 0
    guard let raw = xcb_connect(display, &number) else { throw XError(description: "out of memory") }
    guard let root = Self.root(of: raw, screen: number) else {
      xcb_disconnect(raw)
      throw XError(description: "cannot connect to the X server at \(display ?? "$DISPLAY")")
    }
    self.raw = raw
    self.root = root
    atoms = Self.intern(raw)
    names = Dictionary(atoms.map { ($0.value, $0.key) }) { first, _ in first }
    tellsProcesses = Self.hasProcesses(raw)
  }

  deinit { xcb_disconnect(raw) }

  /// The root window of a screen; nil if the connection has failed.
  private static func root(of raw: OpaquePointer, screen: Int32) -> xcb_window_t? {
    guard xcb_connection_has_error(raw) == 0, let setup = xcb_get_setup(raw) else { return nil }
    var screens = xcb_setup_roots_iterator(setup)
    for _ in 0..<max(screen, 0) where screens.rem > 1 { xcb_screen_next(&screens) }
    return screens.rem > 0 ? screens.data?.pointee.root : nil
  }

  private static func intern(_ raw: OpaquePointer) -> [XAtom: xcb_atom_t] {
    let questions = XAtom.allCases.map { atom in
      (atom, xcb_intern_atom(raw, 0, UInt16(atom.rawValue.utf8.count), atom.rawValue))
    }
    var atoms: [XAtom: xcb_atom_t] = [:]
    for (atom, question) in questions {
      guard let reply = xcb_intern_atom_reply(raw, question, nil) else { continue }
      atoms[atom] = reply.pointee.atom
      free(reply)
    }
    return atoms
  }

  private static func hasProcesses(_ raw: OpaquePointer) -> Bool {
    guard let extensionData = xcb_get_extension_data(raw, &xcb_res_id), extensionData.pointee.present != 0,
      let version = xcb_res_query_version_reply(raw, xcb_res_query_version(raw, 1, 2), nil)
    else { return false }
    defer { free(version) }
    return (version.pointee.server_major, version.pointee.server_minor) >= (1, 2)
  }

  /// Begins to handle what arrives.
  func attach(to loop: EventLoop) {
    self.loop = loop
    loop.add(self)
    follow(root)
  }

  /// Asks for the property events of a window, and for its end.
  func follow(_ window: UInt32) {
    let mask = [XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue]
    xcb_change_window_attributes(raw, window, XCB_CW_EVENT_MASK.rawValue, mask)
  }

  // MARK: Questions

  /// The most windows that are followed: as many as may be fields of one owner.
  private static let mostWindows = UInt32(Limits.fieldsPerOwner)
  /// The most of a window's property, which any program chooses: a little more than of a title is shown.
  private static let longestOfWindow: UInt32 = (1 << 10) + 2

  /// Asks for a property, as much as is used of it, and of the windows as many as are followed; `handler`
  /// gets nil if the window does not have it.
  func property(_ atom: XAtom, of window: UInt32?, _ handler: @escaping (Result<XProperty?, WindowGone>) -> Void) {
    guard let name = atoms[atom] else { return handler(.success(nil)) }
    // In units of four bytes.
    let length: UInt32 =
      switch atom {
      case .clientList: Self.mostWindows
      case _ where window == nil: 16 << 10
      default: Self.longestOfWindow
      }
    let question = xcb_get_property(
      raw, 0, window ?? root, name, xcb_atom_t(XCB_GET_PROPERTY_TYPE_ANY.rawValue), 0, length)
    let utf8 = atoms[.utf8]
    mustSend = true
    waiting.append(
      (
        question.sequence,
        { reply in
          // In place of a reply there is an error.
          guard let reply = reply?.assumingMemoryBound(to: xcb_get_property_reply_t.self) else {
            return handler(.failure(WindowGone()))
          }
          guard reply.pointee.type != 0 else { return handler(.success(nil)) }
          let bytes = UnsafeRawBufferPointer(
            start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply)))
          handler(.success(XProperty(Array(bytes), isUTF8: reply.pointee.type == utf8)))
        }
      ))
  }

  /// Asks for the process that has a window; 0 if that is unknown.
  func process(of window: UInt32, _ handler: @escaping (UInt32) -> Void) {
    guard tellsProcesses else { return handler(0) }
    mustSend = true
    waiting.append((cxcb_ask_process(raw, window), { reply in handler(reply.map { cxcb_process($0) } ?? 0) }))
  }

  /// Sends a message about a window to the window manager.
  func tellManager(_ window: UInt32, _ type: XAtom, _ values: [UInt32]) {
    guard let type = atoms[type] else { return }
    let padded = Array((values + [0, 0, 0, 0, 0]).prefix(5))
    cxcb_tell_manager(raw, root, window, type, padded)
    mustSend = true
  }

  /// Sets a property of the root window, an ASCII text; nil removes it.
  func setRoot(_ atom: XAtom, _ text: String?) {
    guard let name = atoms[atom] else { return }
    if let bytes = text.map({ Array($0.utf8) }) {
      let mode = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
      xcb_change_property(raw, mode, root, name, XCB_ATOM_STRING.rawValue, 8, UInt32(bytes.count), bytes)
    } else {
      xcb_delete_property(raw, root, name)
    }
    mustSend = true
  }

  /// Has the window manager show another workspace.
  func showWorkspace(_ number: UInt32) { tellManager(root, .currentDesktop, [number, 0]) }

  /// The number of an atom; 0 if it has none.
  func number(of atom: XAtom) -> UInt32 { atoms[atom] ?? 0 }

  // MARK: What arrives

  /// The most events of a round, and the most rounds before others are handled.
  private static let (mostEvents, mostRounds) = (256, 16)

  private func handle() {
    mustSend = false
    xcb_flush(raw)
    // Sending reads as well, and what is read wakes nobody: it goes on until nothing is left, with pauses for others.
    var rounds = 0
    while rounds < Self.mostRounds, handleEvents() || handleReplies() {
      xcb_flush(raw)
      rounds += 1
    }
    if rounds == Self.mostRounds { mustSend = true }
    if xcb_connection_has_error(raw) != 0 {
      let handler = onEnd
      close()
      handler?()
    } else {
      onTurn?()
    }
  }

  private func handleEvents() -> Bool {
    var count = 0
    while count < Self.mostEvents, let event = xcb_poll_for_event(raw) {
      defer { free(event) }
      count += 1
      switch Int32(event.pointee.response_type & 0x7f) {
      case XCB_PROPERTY_NOTIFY:
        let change = UnsafeRawPointer(event).load(as: xcb_property_notify_event_t.self)
        if let atom = names[change.atom] { onPropertyChange?(change.window == root ? nil : change.window, atom) }
      case XCB_DESTROY_NOTIFY:
        onDestruction?(UnsafeRawPointer(event).load(as: xcb_destroy_notify_event_t.self).window)
      // Errors, of type 0, are of windows that are gone.
      default: break
      }
    }
    return count > 0
  }

  private func handleReplies() -> Bool {
    var count = 0
    while next < waiting.count {
      var reply: UnsafeMutableRawPointer?
      guard cxcb_poll(raw, waiting[next].sequence, &reply) != 0 else { break }
      defer { free(reply) }
      let handler = waiting[next].handler
      next += 1
      count += 1
      handler(reply.map { UnsafeRawPointer($0) })
    }
    if next == waiting.count || next > 1024 {
      waiting.removeFirst(next)
      next = 0
    }
    return count > 0
  }

  /// Waits until the server has done what it was asked for, a second at most: what it has yet to read when it finds the
  /// connection closed is lost.
  func settle() {
    let question = xcb_get_input_focus(raw)
    xcb_flush(raw)
    let deadline = SuspendingClock.now + .seconds(1)
    var reply: UnsafeMutableRawPointer?
    while cxcb_poll(raw, question.sequence, &reply) == 0, SuspendingClock.now < deadline {
      var answer = pollfd(fd: xcb_get_file_descriptor(raw), events: Int16(POLLIN), revents: 0)
      poll(&answer, 1, 100)
    }
    free(reply)
  }

  /// Handles nothing more.
  func close() {
    isClosed = true
    loop?.remove(self)
    (onPropertyChange, onDestruction, onTurn, onEnd) = (nil, nil, nil, nil)
  }
}

extension XConnection: EventSource {
  func prepare(_ set: inout PollSet) {
    guard !isClosed else { return }
    set.hasPendingWork = set.hasPendingWork || mustSend
    set.add(xcb_get_file_descriptor(raw), events: Int16(POLLIN), source: self, token: 0)
  }

  func ready(token: UInt, events: Int16) { if !isClosed { handle() } }

  func dispatch() { if mustSend, !isClosed { handle() } }
}
