wsgi_app = "project.wsgi:application"
threads = 8
loglevel = "warning"
# It would be a file in the home directory; older releases have none and skip this name.
control_socket_disable = True
