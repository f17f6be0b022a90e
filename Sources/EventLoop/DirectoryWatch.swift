internal import Glibc

/// Tells what appears in directories, and wakes nobody otherwise: `inotify(7)`.
package final class DirectoryWatch {
  private static let headerLength = MemoryLayout<inotify_event>.size

  private let descriptor: Int32
  private let handler: (_ names: [String]) -> Void
  private var buffer = [UInt8](repeating: 0, count: 16 << 10)

  /// Calls `handler` on `loop` with the names of what has appeared in any of the directories; without names if there were
  /// too many.
  /// - Throws: `SystemError` if the user has too many watches.
  package init(on loop: EventLoop, _ handler: @escaping (_ names: [String]) -> Void) throws(SystemError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    self.handler = handler
    guard descriptor >= 0 else { throw SystemError("inotify_init1") }
    loop.add(self)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Adds a directory to the watch.
  ///
  /// A missing directory, or one that is already watched, changes nothing.
  package func add(_ directory: String) {
    inotify_add_watch(descriptor, directory, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONLYDIR))
  }

  /// The names of what is in a directory, in order; empty if it cannot be read.
  package static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The names in what was read: each event is a header, whose last member is the length of the name, and the name.
  private static func names(in events: UnsafeRawBufferPointer) -> [String] {
    var names: [String] = []
    var rest = events[...]
    while rest.count >= headerLength {
      let header = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
      let name = rest.dropFirst(headerLength).prefix(Int(header.len))
      let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      if !text.isEmpty { names.append(text) }
      rest = rest.dropFirst(headerLength + Int(header.len))
    }
    return names
  }
}

extension DirectoryWatch: EventSource {
  package func prepare(_ set: inout PollSet) {
    set.add(descriptor, events: Int16(POLLIN), source: self, token: 0)
  }

  package func ready(token: UInt, events: Int16) {
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return }
    handler(buffer.withUnsafeBytes { Self.names(in: UnsafeRawBufferPointer(rebasing: $0[..<count])) })
  }
}
