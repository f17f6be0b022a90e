;;; emacs.el --- The buffer of the selected window as a field of focusd  -*- lexical-binding: t -*-

;; (load "/path/to/emacs.el") in the init file.  While a frame of Emacs has focus, `focusctl get Document.Path' prints the file
;; that is visited, `focusctl set Text.SelectedText hello' replaces the region or inserts at point, `focusctl run Document.Save'
;; saves, and `focusctl run Edit.Undo' undoes.  A rectangle counts as no region.  Emacs' own D-Bus objects do not answer
;; `Introspect', hence `focusctl hold'.  In tmux: set -g focus-events on.

;;; Code:

(require 'seq)
(require 'subr-x)

(defvar focusd-process nil "The process of `focusctl hold'.")
(defvar focusd-started 0 "When that was started last.")
(defvar focusd-told nil "The values that were sent last, an alist.")
(defvar focusd-rest "" "The beginning of a line that is not complete.")
(defvar-local focusd-undone nil "The undo list after the last undo, and what was left to undo then.")

(defun focusd-escape (text)
  "Write TEXT in one line."
  (replace-regexp-in-string
   "[\\\n\t]" (lambda (match) (cdr (assoc match '(("\\" . "\\\\") ("\n" . "\\n") ("\t" . "\\t"))))) text t t))

(defun focusd-unescape (line)
  "Undo `focusd-escape' for LINE."
  (replace-regexp-in-string
   "\\\\[\\nt]" (lambda (match) (cdr (assoc match '(("\\\\" . "\\") ("\\n" . "\n") ("\\t" . "\t"))))) line t t))

(defun focusd-send (line)
  "Send LINE to the process."
  (when (process-live-p focusd-process)
    ;; It may have ended a moment ago, and Emacs calls no hook again that failed.
    (ignore-errors (process-send-string focusd-process (concat line "\n")))))

(defun focusd-region-p ()
  "Whether a region is selected that is one piece: a rectangle counts as none."
  (and (use-region-p) (not (region-noncontiguous-p))))

(defun focusd-values ()
  "The values of the field now."
  (with-current-buffer (window-buffer (selected-window))
    `(("org.focusd.Document.Path" . ,(or buffer-file-name ""))
      ("org.focusd.Text.SelectedText"
       . ,(if (focusd-region-p) (buffer-substring-no-properties (region-beginning) (region-end)) "")))))

(defun focusd-update ()
  "Send the values that are different now."
  (let ((now (focusd-values)))
    (pcase-dolist (`(,key . ,value) now)
      (unless (equal value (cdr (assoc key focusd-told)))
        (focusd-send (concat key " " (focusd-escape value)))))
    (setq focusd-told now)))

(defun focusd-replace (text)
  "Replace the region by TEXT, or insert it at point, in an undo step of its own."
  (undo-boundary)
  (when (focusd-region-p) (delete-region (region-beginning) (region-end)))
  ;; Outside of a command nobody does, and the next text would replace this one.
  (deactivate-mark)
  (insert text)
  (undo-boundary))

(defun focusd-left (list)
  "What is left to undo of LIST, without what was undone: nil for nothing.
Where an undo left nothing, `undo-only' would take it back."
  (while (and (consp list) (null (car list))) (setq list (cdr list)))
  (let (next)
    (while (and (consp list) (setq next (gethash list undo-equiv-table))) (setq list next)))
  (and (consp list) list))

(defun focusd-undo ()
  "Undo one step.
Outside of a command no boundary precedes it, and the step that follows another is told by `last-command'."
  (undo-boundary)
  (let ((last-command (if (eq buffer-undo-list (car focusd-undone)) 'undo 'ignore))
        (this-command 'ignore))
    (when (eq last-command 'undo) (setq pending-undo-list (cdr focusd-undone)))
    (unless (focusd-left (if (eq last-command 'undo) pending-undo-list buffer-undo-list))
      (user-error "No further undo information"))
    (undo-only)
    (undo-boundary)
    (setq focusd-undone (cons buffer-undo-list pending-undo-list))))

(defun focusd-obey (line)
  "Do what LINE says: a value that another program wrote, or a command that it called."
  (with-current-buffer (window-buffer (selected-window))
    (unwind-protect
        (pcase (split-string line " ")
          (`("org.focusd.Text.SelectedText" . ,words)
           (let ((text (focusd-unescape (string-join words " "))))
             (setf (alist-get "org.focusd.Text.SelectedText" focusd-told nil nil #'equal) text)
             (if (bound-and-true-p isearch-mode) (isearch-yank-string text) (focusd-replace text))))
          (`("run" "org.focusd.Document.Save" . ,_) (save-buffer))
          (`("run" "org.focusd.Edit.Undo" . ,_) (focusd-undo)))
      ;; What a read-only buffer refuses is told, too.
      (focusd-update))))

(defun focusd-filter (_process output)
  "Obey each complete line of OUTPUT."
  (let ((lines (split-string (concat focusd-rest output) "\n")))
    (setq focusd-rest (car (last lines)))
    (dolist (line (butlast lines))
      (with-demoted-errors "focusd: %S" (focusd-obey line)))))

(defun focusd-focus-changed ()
  "Follow the focus of Emacs' frames; that of a frame is `unknown' until the first event."
  (focusd-send (if (seq-some #'focusd-frame-focused-p (frame-list)) "focus" "blur")))

(defun focusd-frame-focused-p (frame)
  "Whether FRAME has focus, as far as is known, and its terminal is not suspended."
  (and (frame-focus-state frame) (not (terminal-parameter frame 'focusd-suspended))))

(defun focusd-suspended (&optional terminal)
  "Blur: what is typed in TERMINAL goes to the shell now."
  (set-terminal-parameter terminal 'focusd-suspended t)
  (focusd-send "blur"))

(defun focusd-resumed (&optional terminal)
  "Focus: the user has brought Emacs back in TERMINAL."
  (set-terminal-parameter terminal 'focusd-suspended nil)
  (focusd-send "focus"))

(defun focusd-process-option ()
  "Name the client of tmux, if this is in a pane, as the process of the field.
Panes are no children of the terminal that shows them, but the client is."
  (when (and (getenv "TMUX") (not (display-graphic-p)) (not (daemonp)))
    (with-temp-buffer
      (setq default-directory "/")
      (ignore-errors (call-process "tmux" nil t nil "display-message" "-p" "#{client_pid}"))
      (goto-char (point-min))
      (when (looking-at "[0-9]+") (list "--process" (match-string 0))))))

(defun focusd-start ()
  "Show the buffer of the selected window as a field, unless that is so.
Without a bus the process ends at once, so start it no more often than once a minute."
  (unless (or (process-live-p focusd-process) (< (- (float-time) focusd-started) 60))
    (setq focusd-started (float-time) focusd-told nil focusd-rest ""
          focusd-process
          (make-process
           :name "focusd" :connection-type 'pipe :noquery t :filter #'focusd-filter
           :stderr (get-buffer-create " *focusd*")
           :command `("focusctl" "hold" "--label" "Emacs" "org.focusd.Element.Role=textbox"
                      "org.focusd.Document.Path=" "org.focusd.Text.SelectedText="
                      "--read-only" "org.focusd.Element.Role" "--read-only" "org.focusd.Document.Path"
                      "--command" "org.focusd.Document.Save" "--command" "org.focusd.Edit.Undo"
                      ,@(focusd-process-option))))
    (focusd-update)
    (focusd-focus-changed)))

(defun focusd-return (&rest _)
  "Start again if the session has ended: the user may be back in the next one.
Here it is no error if focusd has been removed."
  (ignore-errors (focusd-start)))

(focusd-start)
(add-hook 'post-command-hook #'focusd-update)
(add-function :after after-focus-change-function #'focusd-focus-changed)
(add-function :after after-focus-change-function #'focusd-return)
;; A terminal does not tell it of a frame of `emacsclient -nw' that begins or ends.
(add-hook 'server-after-make-frame-hook #'focusd-focus-changed)
(add-hook 'after-delete-frame-functions (lambda (_) (focusd-focus-changed)))
(add-hook 'window-buffer-change-functions #'focusd-return)
;; Another buffer is shown without a key by `emacsclient -n', for example.
(add-hook 'window-state-change-hook #'focusd-update)
(dolist (hook '(suspend-hook suspend-tty-functions)) (add-hook hook #'focusd-suspended))
(dolist (hook '(suspend-resume-hook resume-tty-functions)) (add-hook hook #'focusd-resumed))

;;; emacs.el ends here
